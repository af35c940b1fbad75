import time

import pytest

from agent_world.tools.web.grid import Grid
from agent_world.tools.web.html_tables import html_grids
from agent_world.tools.web.html_text import parse_html


def grids(html: str) -> list[Grid]:
    return html_grids(parse_html(f"<h1>Heading</h1>{html}"), "Page")


def test_cells_that_span_rows_and_columns_are_repeated() -> None:
    found = grids(
        "<table><tr><th>a</th><th>b</th><th>c</th></tr>"
        "<tr><td rowspan=2>1</td><td colspan=2>2</td></tr><tr><td>3</td><td>4</td></tr></table>"
    )
    assert found[0].rows == (("1", "2", "2"), ("1", "3", "4"))


def test_a_header_of_two_rows_is_joined_and_repeats_are_told_apart() -> None:
    found = grids(
        "<table><thead><tr><th rowspan=2>Team</th><th colspan=2>Games</th></tr>"
        "<tr><th>won</th><th>won</th></tr></thead>"
        "<tr><td>A</td><td>1</td><td>2</td></tr></table>"
    )
    assert found[0].header == ("Team", "Games won", "Games won_2")


def test_a_suffix_never_collides_with_a_real_header() -> None:
    found = grids("<table><tr><th>id</th><th>id_2</th><th>id</th></tr><tr><td>1</td><td>2</td><td>3</td></tr></table>")
    assert found[0].header == ("id", "id_2", "id_3")


def test_a_table_without_th_takes_its_first_row_for_header_when_it_is_words() -> None:
    assert grids("<table><tr><td>name</td><td>size</td></tr><tr><td>x</td><td>1</td></tr></table>")[0].header == (
        "name",
        "size",
    )
    assert grids("<table><tr><td>x</td><td>1</td></tr><tr><td>y</td><td>2</td></tr></table>")[0] == Grid(
        "Heading", ("column_1", "column_2"), (("x", "1"), ("y", "2"))
    )


def test_short_rows_are_padded_and_empty_rows_left_out() -> None:
    found = grids(
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td></tr><tr><td></td><td> </td></tr>"
        "<tr><td>2</td><td>3</td></tr></table>"
    )
    assert found[0].rows == (("1", ""), ("2", "3"))


def test_a_layout_table_gives_way_to_the_table_inside() -> None:
    inner = "<table><caption>Inner</caption><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    found = grids(f"<table><tr><td>menu</td><td>{inner}</td></tr></table>")
    assert [grid.title for grid in found] == ["Inner"]


def test_the_title_is_the_caption_else_the_nearest_heading_above() -> None:
    table = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    assert [g.title for g in grids(f"{table}<h2>Second</h2>{table}")] == ["Heading", "Second"]


@pytest.mark.parametrize(
    "span", ["colspan=100000", "rowspan=65534 colspan=1000", "colspan=-3", "rowspan=0", "colspan=x"]
)
def test_absurd_spans_cost_nothing(span: str) -> None:
    started = time.monotonic()
    grids(f"<table><tr><th>a</th><th>b</th></tr>{f'<tr><td {span}>1</td><td>2</td></tr>' * 300}</table>")
    assert time.monotonic() - started < 3


def test_a_page_without_tables_and_an_empty_page_have_none() -> None:
    assert grids("<p>words</p>") == []
    assert html_grids(parse_html(""), "Page") == []


def test_a_footer_and_a_total_are_no_rows_but_notes() -> None:
    (found,) = grids(
        "<table><thead><tr><th>city</th><th>size</th></tr></thead><tfoot><tr><td>All</td><td>9</td></tr></tfoot>"
        "<tbody><tr><td>A</td><td>1</td></tr><tr><td>B</td><td>3</td></tr><tr><td>C</td><td>5</td></tr>"
        "<tr><th>Total</th><td>9</td></tr></tbody></table>"
    )
    assert found.rows == (("A", "1"), ("B", "3"), ("C", "5"))
    assert found.notes == ("total row left out: Total | 9", "footer left out: All 9")


def test_rows_that_name_groups_become_a_column_and_a_title_row_the_title() -> None:
    (found,) = grids(
        "<table><tr><th colspan=2>Fleet</th></tr><tr><th>name</th><th>seats</th></tr>"
        "<tr><th colspan=2>Short haul</th></tr><tr><td>A</td><td>1</td></tr>"
        "<tr><td colspan=2>Long haul</td></tr><tr><td>B</td><td>2</td></tr><tr><td>C</td><td>3</td></tr></table>"
    )
    assert (found.title, found.header) == ("Fleet", ("group", "name", "seats"))
    assert found.rows == (("Short haul", "A", "1"), ("Long haul", "B", "2"), ("Long haul", "C", "3"))


def test_cells_hold_what_a_reader_sees() -> None:
    (found,) = grids(
        "<table><tr><th>Height<br>(m)</th><th>who</th></tr><tr><td><span style='display:none'>0008</span>8,848"
        "<sup>[3]</sup><script>x</script></td><td>A<br>B<ul hidden><li>C</li></ul></td></tr></table>"
    )
    assert (found.header, found.rows) == (("Height (m)", "who"), (("8,848", "A B"),))
