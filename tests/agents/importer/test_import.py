"""Data files of others become related tables, and every object of them is accounted for."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent_world.agents.importer import ImportReport, import_database
from agent_world.errors import UsageError
from agent_world.memory.store import Bundle
from agent_world.tools.tables import read_rows
from tests.cinema import cinema, write_cinema


def load(folder: Path, **options: Any) -> tuple[Bundle, ImportReport]:
    return import_database(folder, folder.parent / "environments" / "made", name="made", **options)


def rows(bundle: Bundle, name: str) -> list[dict[str, Any]]:
    table = bundle.environment().database.table(name)
    return read_rows(bundle.database, table).records()


@pytest.fixture
def imported(tmp_path: Path) -> tuple[Bundle, ImportReport]:
    folder = write_cinema(tmp_path / "cinema")
    return load(folder, specs=folder / "tools.json")


def test_nested_objects_become_tables_that_refer_to_each_other(imported: tuple[Bundle, ImportReport]) -> None:
    bundle, report = imported
    tables = {t.name: t for t in bundle.environment().database.tables}
    assert {name: (t.primary_key, t.rows) for name, t in tables.items()} == {
        "shows": ("show_id", 5),
        "seats": ("seat_id", 30),
        "customers": ("customer_id", 10),
        "cards": ("id", 20),
        "bookings": ("booking_id", 20),
        "booking_tickets": ("id", 40),
        "booking_payments": ("id", 20),
        "booking_tags": ("id", 19),
    }
    assert set(report.keys) == {
        "seats.show_id -> shows.show_id",
        "cards.customer_id -> customers.customer_id",
        "bookings.customer_id -> customers.customer_id",
        "booking_tickets.booking_id -> bookings.booking_id",
        "booking_tickets.show_id -> shows.show_id",
        "booking_tickets.seat_id -> seats.seat_id",
        "booking_payments.booking_id -> bookings.booking_id",
        "booking_payments.card_id -> cards.id",
        "booking_tags.booking_id -> bookings.booking_id",
    }
    owners = {t.name for t in tables.values() for key in t.foreign_keys if key.owner}
    assert owners == {"seats", "cards", "booking_tickets", "booking_payments"}


def test_every_value_of_the_source_is_in_a_row(imported: tuple[Bundle, ImportReport]) -> None:
    bundle, report = imported
    source = cinema()
    for key, customer in source["customers"].items():
        row = next(r for r in rows(bundle, "customers") if r["customer_id"] == key)
        assert row == {"customer_id": key, **customer["name"], **customer["address"], "email": customer["email"]}
        cards = [r for r in rows(bundle, "cards") if r["customer_id"] == key]
        assert [{k: v for k, v in r.items() if k != "customer_id"} for r in cards] == list(customer["cards"].values())
    tickets = [t | {"booking_id": key} for key, b in source["bookings"].items() for t in b["tickets"]]
    for number, (row, ticket) in enumerate(zip(rows(bundle, "booking_tickets"), tickets, strict=True), 1):
        traits = "; ".join(f"{name}: {value}" for name, value in sorted(ticket.pop("traits").items()))
        assert row == {"id": number, "traits": traits, **ticket}
    assert report.lost == []


def test_the_report_says_what_went_where(imported: tuple[Bundle, ImportReport]) -> None:
    placed = {p.path: p for p in imported[1].placed}
    assert placed["db.json: customers{}.cards{}"].table == "cards"
    assert placed["db.json: customers{}.bookings[]"].how == "repeats another table"
    assert placed["db.json: customers{}.vouchers"].how == "empty"
    assert placed["db.json: bookings{}.tickets[].traits"].how == "text"
    assert placed["house_rules.md"].how == "left out"
    assert placed["tools.json"].note == "as asked"
    assert json.loads((imported[0].root / "import.json").read_text())["placed"]


def test_provenance_and_licence_are_recorded_without_a_path_of_the_machine(
    imported: tuple[Bundle, ImportReport],
) -> None:
    head = imported[0].environment()
    assert {s.licence for s in head.sources} == {"MIT License"}
    assert {s.address for s in head.sources} == {"cinema/db.json"}
    assert sum(s.rows for s in head.sources) == sum(t.rows for t in head.database.tables)
    assert len(head.theme.tools) == 13


def test_the_same_data_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = (load(write_cinema(tmp_path / name / "cinema"))[0] for name in ("a", "b"))
    assert first.environment().content_hash == second.environment().content_hash


def test_types_are_the_source_s_own(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    people = [{"id": f"p{n}", "zip": f"0{n}000", "age": n, "height": 1.5 + n, "member": n > 1} for n in range(4)]
    (folder / "people.jsonl").write_text("\n".join(map(json.dumps, people)))
    (folder / "towns.csv").write_text("zip,town,people\n02138,Cambridge,118403\n10001,,21102\n60601,Chicago,14675\n")
    with closing(sqlite3.connect(folder / "shop.db")) as connection, connection:
        connection.execute("CREATE TABLE Sales (SaleId INTEGER PRIMARY KEY, person TEXT, paid BOOLEAN, sum REAL)")
        connection.executemany(
            "INSERT INTO Sales VALUES (?, ?, ?, ?)", [(n, f"p{n % 4}", n % 2, n * 1.5) for n in range(6)]
        )
    bundle, report = load(folder)
    assert rows(bundle, "people") == people
    assert rows(bundle, "towns")[0] == {"zip": "02138", "town": "Cambridge", "people": 118403}
    assert rows(bundle, "towns")[1]["town"] is None
    assert rows(bundle, "sales")[1] == {"sale_id": 1, "person": "p1", "paid": True, "sum": 1.5}
    assert report.keys == ("sales.person -> people.id",)


def test_a_map_whose_records_do_not_repeat_their_id_keeps_it_as_a_column(tmp_path: Path) -> None:
    (tmp_path / "stock.json").write_text(json.dumps({f"x{n}": {"left": n, "shelf": "top"} for n in range(5)}))
    bundle, _ = load(tmp_path / "stock.json")
    assert rows(bundle, "stock")[2] == {"key": "x2", "left": 2, "shelf": "top"}
    assert bundle.environment().database.table("stock").primary_key == "key"


def test_repeated_rows_stay_and_get_numbers(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("what,where\nrain,Oslo\nrain,Oslo\nsun,Rome\n")
    bundle, _ = load(tmp_path / "log.csv")
    assert [(r["id"], r["what"]) for r in rows(bundle, "log")] == [(1, "rain"), (2, "rain"), (3, "sun")]


def test_an_empty_text_is_kept_apart_from_nothing(tmp_path: Path) -> None:
    given = [{"id": "a", "note": ""}, {"id": "b", "note": None}, {"id": "c", "note": "x"}]
    for name in ("first", "second", "third"):
        (tmp_path / f"{name}.json").write_text(json.dumps(given))
    bundle, _ = import_database(tmp_path, tmp_path / "w" / "made", name="made")
    for name in ("first", "second", "third"):
        assert rows(bundle, name) == given


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", '{"a": 1, "a": 2}', "the key 'a' occurs twice"),
        ("a.json", "[1, NaN]", "NaN is not JSON"),
        ("a.csv", "a,b\n1,2\n3\n", "row 3 has 1 cells, the header 2"),
        ("a.csv", "a,a\n1,2\n", "two columns have one name"),
        ("a.db", "no database", "not a database"),
        ("a.txt", "nothing", "no data file"),
    ],
)
def test_what_cannot_be_read_is_named_and_leaves_nothing(name: str, content: str, said: str, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / name).write_text(content)
    with pytest.raises(UsageError, match=said):
        load(folder)
    assert not (tmp_path / "environments").exists() or not list((tmp_path / "environments").iterdir())


def test_an_environment_that_is_there_is_not_overwritten(imported: tuple[Bundle, ImportReport]) -> None:
    bundle, _ = imported
    with pytest.raises(UsageError, match="already an environment"):
        import_database(bundle.root.parent.parent / "cinema", bundle.root, name="made")
