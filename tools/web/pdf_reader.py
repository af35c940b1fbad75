"""`python -m agent_world.tools.web.pdf_reader < FILE`: the tables of a PDF as JSON, lists of rows of text.

A table that begins a page right after one of as many columns ended the page before is its continuation. Exit code 3:
pdfplumber is missing.
"""

import io
import json
import resource
import sys
from typing import Any

MOST_PAGES = 100
MOST_BYTES = 2_000_000_000
MOST_SECONDS = 50

Lines = list[list[str]]


def tables(content: bytes) -> list[Lines]:
    import pdfplumber

    found: list[Lines] = []
    last: tuple[int, int] | None = None  # page and columns of the table before
    with pdfplumber.open(io.BytesIO(content)) as document:
        for number, page in enumerate(document.pages[:MOST_PAGES]):
            for place, raw in enumerate(page.extract_tables()):
                lines = [[" ".join((cell or "").split()) for cell in row] for row in raw]
                if not lines:
                    continue
                if place == 0 and last == (number - 1, len(lines[0])):
                    found[-1] += lines[1:] if lines[0] == found[-1][0] else lines
                else:
                    found.append(lines)
                last = (number, len(lines[0]))
            page.close()
    return found


def main() -> int:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    try:
        import pdfplumber  # noqa: F401
    except ImportError:
        return 3
    try:
        found: Any = tables(sys.stdin.buffer.read())
    except Exception as error:  # whatever a hostile file makes the library raise: it is damaged
        print(" ".join(f"{type(error).__name__}: {error}".split())[:300], file=sys.stderr)
        return 1
    json.dump(found, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
