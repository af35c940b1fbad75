import io

import httpx
import openpyxl
import pytest

from agent_world.errors import WebError
from agent_world.tools.web.extract import download_tables
from agent_world.tools.web.fetch import Received
from agent_world.tools.web.page import RawTable


def read(body: bytes, name: str, kind: str = "application/octet-stream") -> tuple[RawTable, ...]:
    headers = httpx.Headers({"content-type": kind, "last-modified": "Thu, 05 Mar 2020 00:00:00 GMT"})
    return download_tables(Received(f"http://data.example/{name}", 200, headers, body))


def test_csv_loses_its_byte_order_mark_and_keeps_codes_as_text() -> None:
    (table,) = read(b"\xef\xbb\xbfid,zip,id\r\n1,02138,x\r\n", "places.csv")
    assert table.header == ("id", "zip", "id_2")
    assert table.rows == (("1", "02138", "x"),)
    assert (table.title, table.as_of) == ("places", "2020-03-05T00:00:00Z")


def test_csv_with_semicolons_quoted_line_breaks_and_latin_letters_is_read() -> None:
    (table,) = read('name;"note, long"\n"Zürich";"two\nlines"\n'.encode("cp1252"), "x", "text/csv")
    assert table.header == ("name", "note, long")
    assert table.rows == (("Zürich", "two\nlines"),)


def test_json_keeps_types_flattens_objects_and_turns_nan_into_null() -> None:
    (table,) = read(b'[{"a": 1, "b": {"c": "02138"}, "d": NaN}, {"a": 2.5, "e": [1, 2]}]', "x.json")
    assert table.header == ("a", "b.c", "d", "e")
    assert table.rows == ((1, "02138", None, None), (2.5, None, None, "[1, 2]"))


def test_each_list_of_objects_within_a_json_object_is_a_table() -> None:
    tables = read(b'{"meta": {"n": 2}, "cities": [{"n": 1}], "roads": [{"n": 2}], "empty": []}', "x.json")
    assert [table.title for table in tables] == ["cities", "roads"]


def test_xlsx_sheets_are_tables_with_their_types() -> None:
    book, file = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["code", "size"])
    book.active.append(["007", 1.5])
    book.active.append([None, 2])
    book.save(file)
    (table,) = read(file.getvalue(), "sizes.xlsx")
    assert (table.title, table.header, table.rows) == ("sizes", ("code", "size"), (("007", 1.5), (None, 2)))


@pytest.mark.parametrize(
    ("body", "name"), [(b"{", "x.json"), (b"PK\x03\x04 broken", "x.xlsx"), (b"a,b\n" + b"x" * 200_000, "x.csv")]
)
def test_a_damaged_file_is_one_clear_error(body: bytes, name: str) -> None:
    with pytest.raises(WebError, match="is damaged"):
        read(body, name)


def test_a_page_where_a_file_was_promised_is_refused() -> None:
    with pytest.raises(WebError, match="not a CSV, JSON or XLSX file"):
        read(b"<html>", "x.csv", "text/html")
