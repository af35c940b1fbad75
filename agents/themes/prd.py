"""Themes from product requirement documents (M3 of section 3.1): Markdown, plain text, HTML, PDF."""

import re
from pathlib import Path

from agent_world.agents.themes.files import read_source
from agent_world.agents.themes.make import make_theme
from agent_world.errors import UsageError
from agent_world.schema import Theme

_PREFIX = re.compile(r"^(PRD|Product requirements?( document)?)\s*[:–—-]\s*", re.IGNORECASE)
_MARKUP = ("#", "|", "-", "*", ">", "_")


def read_prd(path: Path) -> Theme:
    """The first heading names the theme, the first paragraph describes it. Raises `UsageError`."""
    lines = [line.strip() for line in _text(path).splitlines() if line.strip()]
    if not lines:
        raise UsageError(f"{path} is empty; a PRD needs a heading and a few sentences.")
    name = _PREFIX.sub("", lines[0].lstrip("# ").strip())
    prose = [line for line in lines[1:] if not line.startswith(_MARKUP)]
    return make_theme(name, prose[0] if prose else name, "prd", path.name, text="\n".join(lines))


def _text(path: Path) -> str:
    match path.suffix.lower():
        case ".html" | ".htm":
            return _html(read_source(path, "PRD"))
        case ".pdf":
            return _pdf(path)
        case _:
            return read_source(path, "PRD")


def _html(page: str) -> str:
    """Title or first heading, then the text of the blocks; scripts and navigation left out."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(page, "lxml")
    for part in soup(["script", "style", "nav", "header", "footer", "template"]):
        part.decompose()
    heading = soup.find(["h1", "h2"]) or soup.find("title")
    blocks = soup.find_all(["p", "li", "td", "h2", "h3"])
    texts = [block.get_text(" ", strip=True) for block in blocks if block is not heading]
    lines = [heading.get_text(" ", strip=True) if heading else "", *texts]
    return "\n".join(line for line in lines if line)


def _pdf(path: Path) -> str:
    """Lines joined into paragraphs as far as the layout shows them."""
    try:
        import pdfplumber
    except ImportError as error:
        raise UsageError(f"Reading {path} needs pdfplumber; install agent-world[browser].") from error
    from pdfminer.pdfexceptions import PDFException
    from pdfplumber.utils.exceptions import PdfminerException

    try:
        with pdfplumber.open(path) as document:
            return "\n".join(page.extract_text() or "" for page in document.pages)
    except FileNotFoundError as error:
        raise UsageError(f"There is no PRD {path}; mend its path under themes.") from error
    except (OSError, ValueError, PDFException, PdfminerException) as error:
        raise UsageError(f"Cannot read the PRD {path}: it is no sound PDF ({type(error).__name__}).") from error
