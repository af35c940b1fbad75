"""Numbers, units and codes as published tables write them."""

import pytest

from agent_world.tools.tables import read_table
from agent_world.tools.tables.table import DataTable
from agent_world.tools.web.page import RawTable


def column(*cells: str, name: str = "size") -> DataTable:
    rows = tuple((f"r{n}", cell) for n, cell in enumerate(cells))
    return read_table(RawTable("t", ("slug", name), rows, "http://x/", None, "0", None), "things")


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (("1,234.56", "7"), "number", [1234.56, 7.0]),
        (("1.234,56", "7"), "number", [1234.56, 7.0]),
        (("1,5", "2,75"), "number", [1.5, 2.75]),
        (("1.234.567", "12"), "integer", [1234567, 12]),
        (("1 234", "12 345,5"), "number", [1234.0, 12345.5]),
        (("1\u00a0234", "1\u202f234\u202f567"), "integer", [1234, 1234567]),
        (("1'234.50", "9"), "number", [1234.5, 9.0]),
        (("−5", "1,000"), "integer", [-5, 1000]),
        (("1.5e-3", "2e5"), "number", [0.0015, 200000.0]),
        (("123456789012345678", "1"), "integer", [123456789012345678, 1]),
        (("1.234", "2.500"), "number", [1.234, 2.5]),
    ],
)
def test_one_way_of_writing_numbers_holds_for_a_column(cells: tuple[str, ...], kind: str, values: list[object]) -> None:
    table = column(*cells)
    assert (table.type("size"), table.values("size")) == (kind, values)


@pytest.mark.parametrize(
    "cells",
    [
        ("02138", "10001"),
        ("+49 30 123", "+1 212 555"),
        ("1e5", "2e7"),
        ("0049301", "7"),
        ("12345678901234567890", "1"),
        ("1234567890123456", "1.5"),
        ("1.234,5", "1,234.5"),
        ("1 234.5", "1 234,5"),
        ("555 123 456", "555 987 654"),
        ("1e999", "1.5"),
        ("3-4", "5"),
        ("1,2,3", "4"),
        ("٣", "٤"),
    ],
)
def test_codes_and_what_fits_no_one_way_stay_text(cells: tuple[str, ...]) -> None:
    table = column(*cells)
    assert (table.type("size"), table.values("size")) == ("string", list(cells))


@pytest.mark.parametrize(
    ("cells", "name", "values"),
    [
        (("45%", "7.5 %"), "size_percent", [45.0, 7.5]),
        (("$1,200", "-$3"), "size_dollars", [1200, -3]),
        (("12 kg", "5 kg"), "size_kg", [12, 5]),
        (("€ 1.234,50", "€ 3,00"), "size_eur", [1234.5, 3.0]),
        (("891.7 km²", "12 km²"), "size_km2", [891.7, 12.0]),
        (("USD 5", "USD 7"), "size_usd", [5, 7]),
        (("-3 °C", "21 °C"), "size_celsius", [-3, 21]),
    ],
)
def test_a_unit_of_all_cells_goes_into_the_name(cells: tuple[str, ...], name: str, values: list[object]) -> None:
    table = column(*cells)
    assert table.values(name) == values
    assert any("unit" in note for note in table.notes)


@pytest.mark.parametrize("cells", [("12 kg", "5 lb"), ("12 kg", "5"), ("3A", "4A"), ("12 kg", "about 5 kg"), ("A 1",)])
def test_mixed_or_unknown_units_stay_in_their_cells(cells: tuple[str, ...]) -> None:
    assert column(*cells).values("size") == list(cells)


def test_a_unit_in_the_header_is_kept_and_not_repeated() -> None:
    table = column("12 cm", "7 cm", name="Height (cm)")
    assert table.values("height_cm") == [12, 7]
    assert column("12", "7", name="Area (km²)").columns == ("slug", "area_km2")


def test_what_the_web_left_out_is_among_the_notes() -> None:
    raw = RawTable("t", ("a", "b"), (("x", "1"),), "http://x/", None, "0", None, notes=("total row left out: 9",))
    assert read_table(raw, "t").notes[0] == "total row left out: 9"
