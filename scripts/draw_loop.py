"""Draw `docs/loop.svg`, the README's picture of the loop. Run it after changing a stage."""

from pathlib import Path

BOX_W, BOX_H = 168, 64
FACTORY = [
    ("Themes", "MCP servers, tool docs, PRDs"),
    ("Databases", "mined from the web, complexified"),
    ("Tools", "with unit tests, in a sandbox"),
    ("Tasks", "along the tool graph, by programs"),
    ("Gate", "gold 1, no-op 0, near miss 0"),
]
ARENA = [
    ("Policy", "SFT, then GRPO over environments"),
    ("Arena", "held-out environments"),
    ("Diagnosis", "where it is weak, and why"),
    ("Growth", "targeted tasks, grown databases"),
]


def box(x: float, y: float, title: str, text: str, fill: str) -> str:
    words, lines = text.split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) > 24:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    top = y + 24 if len(lines) == 1 else y + 20
    parts = [f'<rect x="{x}" y="{y}" width="{BOX_W}" height="{BOX_H}" rx="8" fill="{fill}" stroke="#33415c"/>']
    parts.append(f'<text x="{x + BOX_W / 2}" y="{top}" font-weight="600" font-size="15">{title}</text>')
    for index, line in enumerate(lines):
        parts.append(
            f'<text x="{x + BOX_W / 2}" y="{top + 17 + 14 * index}" font-size="11.5" fill="#4a5568">{line}</text>'
        )
    return "".join(parts)


def arrow(points: list[tuple[float, float]]) -> str:
    path = " ".join(f"{'M' if i == 0 else 'L'}{x},{y}" for i, (x, y) in enumerate(points))
    return f'<path d="{path}" fill="none" stroke="#33415c" stroke-width="1.6" marker-end="url(#tip)"/>'


def draw() -> str:
    step, left, top, bottom = BOX_W + 28, 16, 44, 196
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 984 284" font-family="Helvetica,Arial,sans-serif" '
        'text-anchor="middle"><defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0,0 L10,5 L0,10 z" fill="#33415c"/></marker></defs>'
        '<rect width="984" height="284" fill="white"/>',
        '<text x="16" y="26" text-anchor="start" font-size="13" fill="#2f6f4f">environment factory</text>',
        '<text x="16" y="232" text-anchor="start" font-size="13" fill="#9a4a1f">self-evolving arena</text>',
    ]
    for i, (title, text) in enumerate(FACTORY):
        parts.append(box(left + i * step, top, title, text, "#e6f4ea"))
        if i:
            parts.append(arrow([(left + i * step - 28, top + BOX_H / 2), (left + i * step - 2, top + BOX_H / 2)]))
    for i, (title, text) in enumerate(ARENA):
        x = left + (4 - i) * step
        parts.append(box(x, bottom, title, text, "#fdf0e4"))
        if i:
            parts.append(arrow([(x + step, bottom + BOX_H / 2), (x + BOX_W + 2, bottom + BOX_H / 2)]))
    right, growth = left + 4 * step + BOX_W / 2, left + step
    parts.append(arrow([(right, top + BOX_H), (right, bottom - 2)]))
    middle = growth + BOX_W / 3
    parts.append(arrow([(middle, bottom), (middle, top + BOX_H + 2)]))
    tasks = left + 3 * step + BOX_W / 2
    side = growth + BOX_W * 2 / 3
    parts.append(arrow([(side, bottom), (side, bottom - 40), (tasks, bottom - 40), (tasks, top + BOX_H + 2)]))
    return "".join(parts) + "</svg>\n"


if __name__ == "__main__":
    Path(__file__).parent.parent.joinpath("docs", "loop.svg").write_text(draw())
