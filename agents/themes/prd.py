"""Themes from product requirement documents (M3 of section 3.1): Markdown, plain text, HTML, PDF."""

import re
from collections.abc import Iterator
from pathlib import Path

from agent_world.agents.themes.files import read_source
from agent_world.agents.themes.make import make_theme
from agent_world.errors import UsageError
from agent_world.schema import Theme
from agent_world.tools.documents import parse_yaml

_PREFIX = re.compile(r"^(PRD|Product requirements?( document)?)\s*[:–—-]\s*", re.IGNORECASE)
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n(---|\.\.\.)[ \t]*(\n|\Z)", re.DOTALL)
_FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_UNDERLINE = re.compile(r"^[^\S\n]*(\S[^\n]*)\n[=-]{3,}[^\S\n]*$", re.MULTILINE)
"""Of a heading."""
_IMAGE, _LINK = re.compile(r"!\[[^\]]*\](\([^)]*\)|\[[^\]]*\])"), re.compile(r"\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])")
_EMPHASIS = re.compile(r"(\*\*|__|`)(?=\S)(.+?)(?<=\S)\1")
_NO_PROSE = re.compile(r"#|\||>|<|[-*+][ \t]|\d+[.)][ \t]|([-*_][ \t]*){3,}$")


def read_prd(path: Path, name: str | None = None) -> Theme:
    """The first heading names the theme, unless `name` does, and the first paragraph describes it.

    Front matter names it where there is no heading. Raises `UsageError`.
    """
    front, text = _without_front(_text(path))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise UsageError(f"{path} is empty; a PRD needs a heading and a few sentences.")
    heading = next((line for line in lines if line.startswith("#")), "") or front
    if not heading:
        heading, text = lines[0], text.partition(lines[0])[2]
    title = name or _PREFIX.sub("", _plain(heading.lstrip("# "))) or path.stem
    prose = list(_paragraphs(text))
    return make_theme(title, prose[0] if prose else title, "prd", path.name, text="\n".join(lines))


def _without_front(text: str) -> tuple[str, str]:
    """The title that front matter gives, and the text without it, without comments and code; headings as `# ...`."""
    title: object = ""
    if found := _FRONT.match(text):
        try:
            matter = parse_yaml(found[1])
        except ValueError:
            matter = None  # not ours to mend: it is left out as the rest of it is
        title = matter.get("title") if isinstance(matter, dict) else ""
        text = text[found.end() :]
    text = _UNDERLINE.sub(r"# \1", _FENCE.sub("", _COMMENT.sub("", text)))
    return title if isinstance(title, str) else "", text


def _paragraphs(text: str) -> Iterator[str]:
    """Prose: neither headings nor lists, tables, quotes or markup; lines of a paragraph are joined."""
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        plain = line.strip()
        if plain and not _NO_PROSE.match(plain):
            lines.append(plain)
        elif lines:
            if joined := _plain(" ".join(lines)):
                yield joined
            lines = []


def _plain(text: str) -> str:
    """Without images, the marks of links, and emphasis."""
    return " ".join(_EMPHASIS.sub(r"\2", _LINK.sub(r"\1", _IMAGE.sub("", text))).split())


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
    return "\n\n".join(line for line in lines if line)


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
