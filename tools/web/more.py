"""Brings a page's further rows in: presses its "Load more", or scrolls to its end, a bounded number of times."""

import asyncio
from typing import TYPE_CHECKING, Protocol

from agent_world.tools.web.paging import MORE_WORDS

if TYPE_CHECKING:
    import playwright.async_api as playwright

ROWS = "() => document.querySelectorAll('tr, li, dd, article').length"
GO_ON = r"""words => {
  const own = [...document.scripts].some(script => !script.type || /javascript|module/.test(script.type));
  if (!own) return false;
  const text = element => (element.innerText || element.value || '').trim().replace(/\s+/g, ' ').toLowerCase();
  const says = t => /^(load|show|view) \d+ more/.test(t)
    || words.some(w => t === w || (w.includes(' ') && t.length < 40 && t.startsWith(w + ' ')));
  const seen = element => element.offsetParent !== null && !element.disabled;
  const pressed = "button, [role=button], input[type=button], a[href^='#'], a:not([href])";
  const button = [...document.querySelectorAll(pressed)]
    .find(element => seen(element) && says(text(element)));
  if (button) {
    button.click();
    return true;
  }
  const deep = [document.scrollingElement, ...document.querySelectorAll('main, div, section, ul, tbody')]
    .filter(e => e && e.scrollHeight > e.clientHeight + 20 && (e === document.scrollingElement
      || /auto|scroll/.test(getComputedStyle(e).overflowY)));
  for (const element of deep) element.scrollTop = element.scrollHeight;
  return deep.length > 0;
}"""
"""Whether there was something to press or to scroll. Links that lead elsewhere are not pressed."""


class Settling(Protocol):
    """A visit whose requests can be waited for."""

    async def quiet(self, steps: int, end: float) -> None:
        """Until nothing has been pending for so many steps, or the loop's clock says `end`."""
        ...


QUIET_STEPS = 10
"""How long what was pressed may take to ask for something."""


async def bring_more(tab: "playwright.Page", visit: Settling, most: int, limit_s: float) -> None:
    """Ends at the first time that brings no row, after `most` times, or at the limit."""
    end = asyncio.get_running_loop().time() + limit_s
    for _ in range(most):
        before = await tab.evaluate(ROWS)
        if not await tab.evaluate(GO_ON, list(MORE_WORDS)):
            return
        await visit.quiet(QUIET_STEPS, end)
        if await tab.evaluate(ROWS) <= before or asyncio.get_running_loop().time() >= end:
            return
