"""A small hand-made environment that any test may use: a library with books, members and loans.

Three tables in three formats, ten tools that cover every kind of operation, all rows written out here.
"""

import csv
import io
import json
import sqlite3
from pathlib import Path
from typing import Any

from agent_world.memory.store import Bundle, write_text
from agent_world.schema import (
    Column,
    DatabaseSchema,
    Environment,
    ForeignKey,
    Operation,
    Origin,
    Source,
    Table,
    Theme,
    ToolAnnotations,
    ToolSpec,
    ToolVerdict,
)

BOOKS = [
    # id, title, author, genre, year, pages, copies, rating
    ("B001", "Dracula", "Bram Stoker", "horror", 1897, 418, 3, 4.0),
    ("B002", "Frankenstein", "Mary Shelley", "horror", 1818, 280, 2, 3.9),
    ("B003", "Emma", "Jane Austen", "romance", 1815, 474, 4, 4.1),
    ("B004", "Persuasion", "Jane Austen", "romance", 1817, 249, 2, 4.2),
    ("B005", "Mansfield Park", "Jane Austen", "romance", 1814, 488, 1, 3.9),
    ("B006", "Middlemarch", "George Eliot", "society", 1871, 880, 2, 4.1),
    ("B007", "Silas Marner", "George Eliot", "society", 1861, 240, 1, 3.7),
    ("B008", "The Time Machine", "H. G. Wells", "science fiction", 1895, 118, 5, 3.9),
    ("B009", "The Invisible Man", "H. G. Wells", "science fiction", 1897, 192, 3, 3.6),
    ("B010", "The War of the Worlds", "H. G. Wells", "science fiction", 1898, 192, 4, 3.8),
    ("B011", "Treasure Island", "Robert Louis Stevenson", "adventure", 1883, 292, 6, 3.8),
    ("B012", "Kidnapped", "Robert Louis Stevenson", "adventure", 1886, 288, 2, 3.7),
    ("B013", "Robinson Crusoe", "Daniel Defoe", "adventure", 1719, 320, 3, 3.7),
    ("B014", "Moll Flanders", "Daniel Defoe", "society", 1722, 339, 1, 3.5),
    ("B015", "Hard Times", "Charles Dickens", "society", 1854, 352, 2, 3.5),
    ("B016", "Bleak House", "Charles Dickens", "society", 1853, 928, 2, 4.0),
    ("B017", "Oliver Twist", "Charles Dickens", "society", 1838, 608, 5, 3.9),
    ("B018", "Jane Eyre", "Charlotte Brontë", "romance", 1847, 532, 4, 4.1),
    ("B019", "Villette", "Charlotte Brontë", "romance", 1853, 573, 1, 3.8),
    ("B020", "Wuthering Heights", "Emily Brontë", "romance", 1847, 416, 3, 3.9),
]
MEMBERS = [
    # id, name, city, postcode, joined, level
    ("M01", "Ada Novak", "Cambridge", "02138", "2023-02-11", "adult"),
    ("M02", "Ben Okafor", "Boston", "02108", "2023-03-05", "adult"),
    ("M03", "Chloe Martin", "Cambridge", "02139", "2023-06-19", "student"),
    ("M04", "David Kim", "Somerville", "02143", "2023-08-30", "student"),
    ("M05", "Elena Rossi", "Boston", "02110", "2024-01-15", "senior"),
    ("M06", "Farid Haddad", "Somerville", "02144", "2024-02-02", "adult"),
    ("M07", "Grace Liu", "Cambridge", "02140", "2024-04-21", "student"),
    ("M08", "Henry Jones", "Medford", "02155", "2024-05-09", "senior"),
    ("M09", "Ines Silva", "Boston", "02115", "2024-09-13", "adult"),
    ("M10", "Jakub Wolf", "Medford", "02155", "2024-11-28", "adult"),
    ("M11", "Kira Tanaka", "Cambridge", "02141", "2025-01-07", "student"),
    ("M12", "Leo Brandt", "Somerville", "02145", "2025-03-17", "senior"),
]
LOANS = [
    # id, book, member, lent, returned, fine
    (1, "B001", "M01", "2025-01-04", "2025-01-20", 0.0),
    (2, "B008", "M01", "2025-01-20", "2025-02-03", 0.0),
    (3, "B011", "M02", "2025-01-22", "2025-02-28", 3.5),
    (4, "B003", "M03", "2025-01-25", "2025-02-08", 0.0),
    (5, "B016", "M04", "2025-02-01", "2025-03-15", 4.0),
    (6, "B018", "M05", "2025-02-03", "2025-02-17", 0.0),
    (7, "B008", "M06", "2025-02-10", "2025-02-19", 0.0),
    (8, "B010", "M03", "2025-02-11", "2025-02-25", 0.0),
    (9, "B002", "M07", "2025-02-14", "2025-03-01", 0.25),
    (10, "B006", "M08", "2025-02-20", "2025-04-02", 6.75),
    (11, "B017", "M09", "2025-02-22", "2025-03-08", 0.0),
    (12, "B013", "M10", "2025-03-01", "2025-03-14", 0.0),
    (13, "B001", "M11", "2025-03-03", "2025-03-17", 0.0),
    (14, "B020", "M05", "2025-03-05", "2025-03-19", 0.0),
    (15, "B004", "M01", "2025-03-08", "2025-03-21", 0.0),
    (16, "B009", "M02", "2025-03-10", "2025-03-24", 0.0),
    (17, "B012", "M04", "2025-03-15", None, 0.0),
    (18, "B011", "M06", "2025-03-16", "2025-03-30", 0.0),
    (19, "B018", "M07", "2025-03-20", None, 0.0),
    (20, "B001", "M12", "2025-03-21", "2025-04-18", 3.0),
    (21, "B015", "M08", "2025-03-22", None, 0.0),
    (22, "B005", "M03", "2025-03-25", None, 0.0),
    (23, "B008", "M09", "2025-03-27", None, 0.0),
    (24, "B019", "M11", "2025-04-01", None, 0.0),
    (25, "B007", "M01", "2025-04-03", None, 0.0),
]

BOOK_COLUMNS = ("book_id", "title", "author", "genre", "year", "pages", "copies", "rating")
MEMBER_COLUMNS = ("member_id", "name", "city", "postcode", "joined", "level")
LOAN_COLUMNS = ("loan_id", "book_id", "member_id", "lent", "returned", "fine")

TOOLS = '''"""Tools of the library: each reads or writes the files of the working directory."""

import csv
import json
import sqlite3


class ToolError(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def _books():
    with open("books.json", encoding="utf-8") as file:
        return json.load(file)


def _save_books(books):
    with open("books.json", "w", encoding="utf-8") as file:
        json.dump(books, file, indent=1, ensure_ascii=False)


def _members():
    with open("members.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _save_members(members):
    with open("members.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(members[0]), lineterminator="\\n")
        writer.writeheader()
        writer.writerows(members)


def _loans(sql, *values):
    connection = sqlite3.connect("loans.sqlite")
    connection.row_factory = sqlite3.Row
    try:
        with connection:
            return [dict(row) for row in connection.execute(sql, values)]
    finally:
        connection.close()


def _find(rows, column, key, what):
    for row in rows:
        if row[column] == key:
            return row
    raise ToolError("not_found", f"There is no {what} {key!r}.")


def _page(rows, limit, offset):
    return {"items": rows[offset : offset + min(limit, 10)], "total": len(rows)}


def get_book(book_id: str):
    return _find(_books(), "book_id", book_id, "book")


def get_member(member_id: str):
    return _find(_members(), "member_id", member_id, "member")


def search_books(title: str):
    return _page([book for book in _books() if title.lower() in book["title"].lower()], 10, 0)


def list_books_by_genre(genre: str, limit: int = 10, offset: int = 0):
    return _page([book for book in _books() if book["genre"] == genre], limit, offset)


def list_loans_by_member(member_id: str):
    _find(_members(), "member_id", member_id, "member")
    return _page(_loans("SELECT * FROM loans WHERE member_id = ? ORDER BY loan_id", member_id), 10, 0)


def count_loans_by_book(book_id: str):
    return {"count": _loans("SELECT count(*) AS n FROM loans WHERE book_id = ?", book_id)[0]["n"]}


def average_books_pages(genre: str):
    pages = [book["pages"] for book in _books() if book["genre"] == genre]
    if not pages:
        raise ToolError("not_found", f"There is no book of genre {genre!r}.")
    return {"value": round(sum(pages) / len(pages), 4)}


def create_member(member_id: str, name: str, city: str, postcode: str, joined: str, level: str):
    members = _members()
    if any(row["member_id"] == member_id for row in members):
        raise ToolError("already_exists", f"There is already a member {member_id!r}.")
    row = {"member_id": member_id, "name": name, "city": city, "postcode": postcode, "joined": joined, "level": level}
    _save_members([*members, row])
    return row


def update_book_copies(book_id: str, copies: int):
    if copies < 0:
        raise ToolError("invalid_value", "copies must not be negative.")
    books = _books()
    book = _find(books, "book_id", book_id, "book")
    book["copies"] = copies
    _save_books(books)
    return book


def delete_loan(loan_id: int):
    rows = _loans("SELECT * FROM loans WHERE loan_id = ?", loan_id)
    if not rows:
        raise ToolError("not_found", f"There is no loan {loan_id!r}.")
    _loans("DELETE FROM loans WHERE loan_id = ?", loan_id)
    return rows[0]
'''

TOOL_TESTS = '''"""Unit tests of the tools; each runs in a fresh instance."""


def test_get_book(tools):
    assert tools.get_book(book_id="B003")["title"] == "Emma"


def test_count_loans_by_book(tools):
    assert tools.count_loans_by_book(book_id="B001") == {"count": 3}
'''


def make_library(root: Path) -> Bundle:
    """Write the library as the bundle `root` (created; its folder name is the environment's id) and return it."""
    bundle = Bundle(root)
    write_text(bundle.database / "books.json", json.dumps(_rows(BOOK_COLUMNS, BOOKS), indent=1, ensure_ascii=False))
    write_text(bundle.database / "members.csv", _csv(MEMBER_COLUMNS, MEMBERS))
    _write_loans(bundle.database / "loans.sqlite")
    bundle.write_tools(library_tools(), TOOLS, TOOL_TESTS)
    bundle.write_environment(_environment(bundle.id))
    return bundle


def library_schema() -> DatabaseSchema:
    books = Table(
        name="books", file="books.json", format="json", rows=len(BOOKS), primary_key="book_id", label="title",
        columns=(
            *(Column(name=name, type="string", unique=True) for name in ("book_id", "title")),
            Column(name="author", type="string"),
            Column(name="genre", type="string", values=tuple(sorted({row[3] for row in BOOKS}))),
            *(Column(name=name, type="integer") for name in ("year", "pages", "copies")),
            Column(name="rating", type="number"),
        ),
    )  # fmt: skip
    members = Table(
        name="members", file="members.csv", format="csv", rows=len(MEMBERS), primary_key="member_id", label="name",
        columns=(
            *(Column(name=name, type="string", unique=True) for name in ("member_id", "name")),
            Column(name="city", type="string", values=tuple(sorted({row[2] for row in MEMBERS}))),
            *(Column(name=name, type="string") for name in ("postcode", "joined")),
            Column(name="level", type="string", values=("adult", "senior", "student")),
        ),
    )  # fmt: skip
    loans = Table(
        name="loans", file="loans.sqlite", format="sqlite", rows=len(LOANS), primary_key="loan_id",
        columns=(
            Column(name="loan_id", type="integer", unique=True),
            *(Column(name=name, type="string") for name in ("book_id", "member_id", "lent")),
            Column(name="returned", type="string", nullable=True),
            Column(name="fine", type="number"),
        ),
        foreign_keys=(
            ForeignKey(column="book_id", table="books", target="book_id"),
            ForeignKey(column="member_id", table="members", target="member_id"),
        ),
    )  # fmt: skip
    return DatabaseSchema(tables=(books, loans, members))


def library_tools() -> list[ToolSpec]:
    books, members, loans = (
        library_schema().table("books"),
        library_schema().table("members"),
        library_schema().table("loans"),
    )
    return [
        _tool("get_book", "Get one book by its id.", {"book_id": "string"},
              Operation(kind="get", table="books", inputs={"book_id": "books.book_id"}, outputs=_outputs(books))),
        _tool("get_member", "Get one member by their id.", {"member_id": "string"},
              Operation(kind="get", table="members", inputs={"member_id": "members.member_id"},
                        outputs=_outputs(members))),
        _tool("search_books", "Find books whose title contains a text, case aside; at most 10.", {"title": "string"},
              Operation(kind="search", table="books", column="title", inputs={"title": "books.title"},
                        outputs=_outputs(books, "items[]."))),
        _tool("list_books_by_genre", "List the books of a genre, at most 10 at a time.",
              {"genre": "string", "limit": "integer", "offset": "integer"},
              Operation(kind="list", table="books", column="genre", inputs={"genre": "books.genre"},
                        outputs=_outputs(books, "items[].")), optional=("limit", "offset")),
        _tool("list_loans_by_member", "List the loans of a member, at most 10.", {"member_id": "string"},
              Operation(kind="related", table="loans", column="member_id", inputs={"member_id": "members.member_id"},
                        outputs=_outputs(loans, "items[]."))),
        _tool("count_loans_by_book", "Count how often a book was lent.", {"book_id": "string"},
              Operation(kind="count", table="loans", column="book_id", inputs={"book_id": "books.book_id"})),
        _tool("average_books_pages", "Mean number of pages of the books of a genre.", {"genre": "string"},
              Operation(kind="aggregate", table="books", column="pages", function="mean",
                        inputs={"genre": "books.genre"})),
        _tool("create_member", "Add a member.", dict.fromkeys(MEMBER_COLUMNS, "string"),
              Operation(kind="create", table="members", inputs=_inputs(members), outputs=_outputs(members))),
        _tool("update_book_copies", "Set the number of copies of a book.", {"book_id": "string", "copies": "integer"},
              Operation(kind="update", table="books", column="copies", outputs=_outputs(books),
                        inputs={"book_id": "books.book_id", "copies": "books.copies"})),
        _tool("delete_loan", "Remove a loan.", {"loan_id": "integer"},
              Operation(kind="delete", table="loans", inputs={"loan_id": "loans.loan_id"}, outputs=_outputs(loans))),
    ]  # fmt: skip


def _tool(
    name: str, description: str, arguments: dict[str, str], operation: Operation, optional: tuple[str, ...] = ()
) -> ToolSpec:
    writes = operation.kind in ("create", "update", "delete")
    return ToolSpec(
        name=name,
        description=description,
        input_schema={
            "type": "object",
            "properties": {argument: {"type": kind} for argument, kind in arguments.items()},
            "required": [argument for argument in arguments if argument not in optional],
            "additionalProperties": False,
        },
        annotations=ToolAnnotations(read_only=not writes, destructive=operation.kind == "delete"),
        meta={"agent_world/operation": operation.model_dump(mode="json")},
    )


def _outputs(table: Table, prefix: str = "") -> dict[str, str]:
    return {f"{prefix}{column.name}": f"{table.name}.{column.name}" for column in table.columns}


def _inputs(table: Table) -> dict[str, str]:
    return {column.name: f"{table.name}.{column.name}" for column in table.columns}


def _environment(identifier: str) -> Environment:
    made = Origin(engine="procedural")
    description = "A public library: its books, its members, and who borrowed what."
    theme = Theme(id="library", name="Library", description=description, kind="prd", source="tests/worlds.py")
    verdicts = tuple(
        ToolVerdict(tool=tool.name, compiled=True, tests_passed=1, tests_total=1, kept=True, reason="kept", origin=made)
        for tool in library_tools()
    )
    source = Source(file="books.json", address="tests/worlds.py", sha256="0" * 64, rows=len(BOOKS))
    return Environment(
        id=identifier, name="Library", description=description, theme=theme, sources=(source,),
        taxonomy=("Culture", "Libraries"), database=library_schema(), tools=verdicts, origin=made,
    )  # fmt: skip


def _rows(columns: tuple[str, ...], rows: list[Any]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _csv(columns: tuple[str, ...], rows: list[Any]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([columns, *rows])
    return text.getvalue()


def _write_loans(path: Path) -> None:
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(
            "CREATE TABLE loans (loan_id INTEGER PRIMARY KEY, book_id TEXT NOT NULL, member_id TEXT NOT NULL,"
            " lent TEXT NOT NULL, returned TEXT, fine REAL NOT NULL)"
        )
        connection.executemany("INSERT INTO loans VALUES (?, ?, ?, ?, ?, ?)", LOANS)
    connection.close()
