from typing import Any

import pytest

from agent_world.tools.tables import DataTable, describe, plural, read_table, singular, snake_case
from agent_world.tools.web.page import RawTable


def raw(header: tuple[str, ...], *rows: tuple[Any, ...]) -> RawTable:
    return RawTable("A table", header, rows, "http://site/table", as_of=None, sha256="0" * 64, licence=None)


def read(header: tuple[str, ...], *rows: tuple[Any, ...], name: str = "places") -> DataTable:
    return read_table(raw(header, *rows), name)


def test_text_becomes_numbers_only_where_every_value_allows() -> None:
    table = read(
        ("code", "count", "share", "mixed", "open"), ("a", "1,204", "-0.5", "7", "yes"), ("b", "-3", "1e2", "x", "no")
    )
    assert table.types == ("string", "integer", "number", "string", "boolean")
    assert table.rows == (("a", 1204, -0.5, "7", True), ("b", -3, 100.0, "x", False))


def test_code_like_columns_stay_text() -> None:
    table = read(("name", "zip", "tailnum", "serial"), ("a", "02138", "N10156", "007"), ("b", "10001", "N10157", "12"))
    assert table.values("zip") == ["02138", "10001"]
    assert table.values("serial") == ["007", "12"]
    assert read(("name", "phone"), ("a", "44"), ("b", "1")).type("phone") == "string"


def test_missing_markers_become_null_but_namibia_stays() -> None:
    table = read(("country", "note", "size"), ("DE", "N/A", "3"), ("NA", "fine", "-"), ("FR", "", "4"))
    assert table.values("country") == ["DE", "NA", "FR"]
    assert table.values("note") == [None, "fine", None]
    assert table.values("size") == [3, None, 4]


def test_whole_numbers_stored_as_decimals_are_integers() -> None:
    assert read(("id", "time"), ("1", "517.0"), ("2", "533.0")).values("time") == [517, 533]


def test_mark_duplicate_headers_and_repeated_rows_are_mended_and_noted() -> None:
    table = read(("\ufeffid", "zip", "id"), ("1", "02138", "x"), ("1", "02138", "x"), ("", "", ""), ("2", "1", "y"))
    assert table.columns == ("id", "zip", "id_2")
    assert len(table.rows) == 2
    assert any("renamed id_2" in note for note in table.notes)
    assert any("2 empty or repeated rows dropped" in note for note in table.notes)


def test_json_cells_keep_their_types_and_stay_strict() -> None:
    table = read(
        ("name", "n", "ok", "tags", "deep"), ("a", 1.5, True, ["x", "y"], {"no": 1}), ("b", float("nan"), False, [], {})
    )
    assert table.columns == ("name", "n", "ok", "tags")
    assert table.rows == (("a", 1.5, True, "x, y"), ("b", None, False, None))


def test_short_and_long_rows_are_fitted_to_the_header() -> None:
    assert read(("name", "n"), ("a",), ("b", "2", "extra")).rows == (("a", None), ("b", 2))


def test_column_names_are_snake_case_and_no_keywords() -> None:
    assert [snake_case(t) for t in ("IMDB Rating", "MPG.city", "milesPerGallon", "HS Grad (%)", "class", "2015")] == [
        "imdb_rating", "mpg_city", "miles_per_gallon", "hs_grad_percent", "class_name", "n_2015",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "many"),
    [("airline", "airlines"), ("country", "countries"), ("species", "species"), ("shelf", "shelves"), ("box", "boxes")],
)
def test_plural_and_singular_are_each_others_reverse(one: str, many: str) -> None:
    assert (plural(one), singular(many), plural(many)) == (many, one, many)


def test_the_key_is_a_code_not_a_measure() -> None:
    rows = [(f"City {i}", f"C{i:02d}", 1000 + i * 7) for i in range(20)]
    table = read(("name", "code", "population"), *rows)
    assert (table.key, table.label) == ("code", "name")
    assert read(("population", "share"), *[(100 + i, i % 3) for i in range(9)]).key == "id"


def test_a_number_named_as_its_table_is_a_key() -> None:
    assert read(("season", "storms"), (2017, 18), (2018, 18), name="seasons").key == "season"


def test_an_id_is_made_only_where_there_is_no_key() -> None:
    table = read(("city", "month"), ("Dallas", "1"), ("Dallas", "2"), ("Austin", "1"), name="sales")
    assert table.columns[0] == table.key == "id"
    assert table.values("id") == [1, 2, 3]
    assert "id" not in read(("code", "n"), ("a", "1"), ("b", "1")).columns


def test_the_profile_names_categories_nulls_and_unique_columns() -> None:
    rows = [(f"k{i}", "ab"[i % 2], None if i == 3 else i) for i in range(8)]
    table = describe(read(("code", "kind", "size"), *rows), "places.json", "json")
    assert table.column("kind").values == ("a", "b")
    assert table.column("size").nullable
    assert table.column("code").unique
    assert not table.column("kind").unique


def test_headers_of_every_script_become_names_and_stay_as_descriptions() -> None:
    table = read(("Город", "城市", "Fläche (km²)", "μέγεθος", "???"), ("Минск", "明斯克", "5", "x", "y"))
    assert table.columns == ("gorod", "cheng_shi", "flache_km2", "megethos", "column_5")
    found = {column.name: column.description for column in describe(table, "x.csv", "csv").columns}
    assert found == {
        "gorod": "Город", "cheng_shi": "城市", "flache_km2": "Fläche (km²)", "megethos": "μέγεθος", "column_5": "",
    }  # fmt: skip
    assert table.rows == (("Минск", "明斯克", 5, "x", "y"),)
    assert table.notes[-1] == "header '???' has no letters: its column is column_5"
    assert table.pick(["gorod"]).headers == {"gorod": "Город"}


def test_headers_that_sound_the_same_are_told_apart_in_name_and_description() -> None:
    table = read(("Мир", "Miр"), ("a", "b"))
    assert (table.columns, dict(table.headers)) == (("mir", "mir_2"), {"mir": "Мир", "mir_2": "Miр"})
