"""Workspace files: Markdown notes on mined rows, as people leave them beside their tables.

A note is synthetic as a document, and says so; every value that it quotes is the row's own, and rows are never changed
by later rounds. The remarks are made up.
"""

import random

from agent_world.agents.miner.database import Database, Entry, NoteFile
from agent_world.agents.miner.workspace_tables import PEOPLE
from agent_world.schema import Json, Note
from agent_world.tools.tables import singular

ROWS = 5
"""Rows told of in one note."""
COLUMNS = 7
KINDS = (
    ("briefing", "Briefing on", "For whoever takes over the desk."),
    ("handover", "Handover of", "What was on the table when the shift ended."),
    ("review_notes", "Review notes on", "Entries that were looked at more closely."),
    ("shortlist", "Shortlist from", "A first choice, to be talked over."),
)
REMARKS = (
    "Talked over with {person}; nothing to change for now.",
    "{person} wants to see this one again next week.",
    "Left open until {person} has compared it with the others.",
    "{person} suggested to keep it as it is.",
)


def next_note(database: Database, seed: str) -> NoteFile | None:
    """A note of a kind that its table does not have yet, on the mined table with the fewest of them."""
    mined = [entry for entry in database.mined() if entry.table.rows]
    about = [file.note.table for file in database.notes]
    taken = {file.note.name for file in database.notes}
    for entry in sorted(mined, key=lambda e: (about.count(e.name), not e.table.label, -len(e.table.rows), e.name)):
        free = [kind for kind in KINDS if f"{kind[0]}_{entry.name}" not in taken]
        if free:
            rng = random.Random(f"{seed}:{entry.name}:note")
            return _note(entry, free[rng.randrange(len(free))], rng)
    return None


def _note(entry: Entry, kind: tuple[str, str, str], rng: random.Random) -> NoteFile:
    name, begin, purpose = kind
    title = f"{begin} {_words(entry.name)}"
    rows = sorted(rng.sample(range(len(entry.table.rows)), min(ROWS, len(entry.table.rows))))
    records = entry.table.records()
    parts = [f"# {title}", f"{purpose} Made up as a note; the values are those of the table {entry.name}."]
    parts += [_section(entry, records[row], rng) for row in rows]
    note = Note(name=f"{name}_{entry.name}", file=f"notes/{name}_{entry.name}.md", title=title, table=entry.name)
    return NoteFile(note, "\n\n".join(parts) + "\n")


def _section(entry: Entry, row: dict[str, Json], rng: random.Random) -> str:
    """One row: what it is called, its values, a remark."""
    called = row[entry.table.label or entry.table.key] or row[entry.table.key]
    known = [(column, value) for column, value in row.items() if value is not None][:COLUMNS]
    facts = [f"- {_words(column)}: {_plain(value)}" for column, value in known]
    remark = rng.choice(REMARKS).format(person=rng.choice(PEOPLE))
    heading = f"## {_words(singular(entry.name)).capitalize()} {_plain(called)}"
    return "\n\n".join([heading, "\n".join(facts), f"> {remark}"])


def _plain(value: Json) -> str:
    """On one line, as the tools show it."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return " ".join(text.split())


def _words(name: str) -> str:
    return name.replace("_", " ")
