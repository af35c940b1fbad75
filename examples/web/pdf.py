"""A table as a PDF with ruled lines: the few objects of PDF 1.4 that this needs, and nothing that changes with time."""

from collections.abc import Sequence

from agent_world.examples.web.catalogue import Rows

WIDTH, HEIGHT, MARGIN = 842, 595, 30
"""A4 across, in points."""
SIZE, LINE = 7, 13
PADDING = 3
CHARACTER = 0.62 * SIZE
"""Wider than Helvetica's mean, so that text keeps within its cell."""
MOST_CHARACTERS = 42
LINES = (HEIGHT - 2 * MARGIN) // LINE - 1
"""Rows of a page below its header."""


def write_pdf(found: Rows, name: str) -> bytes:
    """All rows, the header again on each page. Characters that Windows-1252 lacks become question marks."""
    lines = [tuple("" if cell is None else str(cell) for cell in row) for row in found.rows]
    widths = _widths([found.header, *lines])
    pages = [_page([found.header, *lines[n : n + LINES]], widths) for n in range(0, max(1, len(lines)), LINES)]
    return _document(pages)


def _widths(lines: Sequence[Sequence[str]]) -> list[float]:
    """Of columns by their longest text, made smaller together where the page is too narrow."""
    longest = [min(MOST_CHARACTERS, max(len(line[place]) for line in lines)) for place in range(len(lines[0]))]
    wished = [CHARACTER * length + 2 * PADDING for length in longest]
    scale = min(1.0, (WIDTH - 2 * MARGIN) / sum(wished))
    return [scale * width for width in wished]


def _page(lines: Sequence[Sequence[str]], widths: Sequence[float]) -> bytes:
    """A content stream: the grid's rules, then the text of each cell."""
    edges = [MARGIN + sum(widths[:n]) for n in range(len(widths) + 1)]
    top, bottom = HEIGHT - MARGIN, HEIGHT - MARGIN - LINE * len(lines)
    rules = [f"{edge:.2f} {bottom} m {edge:.2f} {top} l S" for edge in edges]
    rules += [f"{edges[0]:.2f} {top - LINE * n} m {edges[-1]:.2f} {top - LINE * n} l S" for n in range(len(lines) + 1)]
    parts = ["0.5 w", *rules]
    for row, line in enumerate(lines):
        baseline = top - LINE * (row + 1) + PADDING + 1
        for place, text in enumerate(line):
            if text:
                at = f"{edges[place] + PADDING:.2f} {baseline}"
                parts.append(f"BT /F1 {_size(text, widths[place]):.2f} Tf {at} Td ({_escaped(text)}) Tj ET")
    return "\n".join(parts).encode("cp1252", "replace")


def _size(text: str, width: float) -> float:
    return min(SIZE, SIZE * (width - 2 * PADDING) / (CHARACTER * len(text)))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _document(pages: Sequence[bytes]) -> bytes:
    """Catalogue, page tree, font, then a page and its content each; the cross-reference table at the end."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for n, content in enumerate(pages):
        box = f"/MediaBox [0 0 {WIDTH} {HEIGHT}] /Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {box} /Contents {5 + 2 * n} 0 R >>".encode())
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    end = b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    return body + end + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(body))
