"""`python -m agent_world.tools.web.find_browser`: start the browser that the miner would, and say which it is."""

import asyncio
import sys

from agent_world.errors import AgentWorldError
from agent_world.settings import WebSettings
from agent_world.tools.web.browser import open_browser


async def version() -> str:
    async with open_browser(WebSettings()) as browser:
        return browser.version


if __name__ == "__main__":
    try:
        print(f"Chromium {asyncio.run(version())}")
    except AgentWorldError as error:
        sys.exit(str(error))
