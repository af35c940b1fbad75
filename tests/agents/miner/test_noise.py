"""Noise and edge cases: only in tables marked synthetic, of every kind, and the same under a seed."""

import unicodedata
from itertools import pairwise

from agent_world.agents.miner.complexify import complexify, left_out
from agent_world.agents.miner.database import Database
from agent_world.agents.miner.extend import extended
from agent_world.agents.miner.fit import terms_of
from agent_world.agents.miner.noise import DATES, NAMES
from tests.agents.miner.test_candidates import raw as other
from tests.agents.miner.test_database import THEME, database, facts, found_among, material


def grown(rounds: int, seed: str = "0") -> tuple[list[Database], list[str]]:
    whole, states, changes = material(), [database()], list[str]()
    for number in range(1, rounds + 1):
        made, record = complexify(states[-1], whole, number, seed, 60)
        assert record is not None
        assert record.score_after > record.score_before
        states.append(made)
        changes += record.changes
    return states, changes


def test_awkward_rows_come_into_synthetic_tables_alone_and_are_told() -> None:
    states, changes = grown(4)
    for before, after in pairwise(states):
        for entry in before.entries:
            if entry.derivation and entry.derivation.kind == "workspace":
                rows = after.entry(entry.name).table.rows
                assert rows[: len(entry.table.rows)] == entry.table.rows
        assert facts(before)["bikes"] <= facts(after)["bikes"]
    told = " ".join(changes)
    assert all(word in told for word in ("near-duplicate", "missing values", "Unicode", "boundary date"))
    noisy = [e for e in states[-1].entries if e.derivation and e.derivation.kind == "workspace"]
    assert any(len(entry.table.rows) > 12 for entry in noisy)
    assert all(entry.describe().synthetic for entry in noisy)
    assert facts(states[-1])["bikes"] <= facts(material())["bikes"]
    assert states[-1].problems() == []
    values = {value for entry in noisy for row in entry.table.rows for value in row}
    assert values & set(NAMES)
    assert values & set(DATES)
    assert any(str(v).isupper() and len(str(v)) > 4 for v in values)


def test_the_round_that_makes_a_place_for_work_makes_its_awkward_rows_too() -> None:
    states, changes = grown(1)
    (place,) = [e for e in states[-1].entries if e.derivation and e.derivation.kind == "workspace"]
    assert len(place.table.rows) > 12
    assert any(f"made-up rows in {place.name}: a near-duplicate" in change for change in changes)


def test_the_same_seed_makes_the_same_noise_and_another_one_other() -> None:
    assert grown(3)[0] == grown(3)[0]
    assert grown(3)[0] != grown(3, seed="1")[0]


def test_tables_with_tools_get_no_awkward_rows() -> None:
    states, _ = grown(1)
    made, record = complexify(states[-1], material(), 2, "0", 60, columns=False)
    assert record is not None
    assert not any("made-up rows in" in change for change in record.changes)
    columns, note = left_out(states[0], material(), notes=True)
    assert (columns, note) == (
        "mined columns orders.channel: the tools do not know them",
        "a note: no tool would read it",
    )
    (noise,) = left_out(states[-1], material(), notes=False)
    assert noise.startswith("awkward rows in ")
    assert all(made.entry(e.name).table.columns == e.table.columns for e in states[-1].entries)


def test_one_of_the_names_is_decomposed() -> None:
    assert any(unicodedata.normalize("NFC", name) != name for name in NAMES)


def test_a_table_from_further_pages_joins_and_alters_nothing() -> None:
    whole = material()
    shops = other("bike/shops", ("shop", "maker", "town"), *[(f"S{i}", f"M{i % 6}", f"Town {i}") for i in range(30)])
    strangers = other("bike/poems", ("poem", "lines"), *[(f"Poem {i}", i) for i in range(30)])
    known = found_among(material_tables=True)
    more = extended(whole, found_among(shops, strangers), terms_of(THEME), "0")
    assert more is not None
    assert more.names() == [*whole.names(), "shops"]
    assert [(key.column, key.table) for key in more.tables[-1].foreign_keys] == [("maker", "makers")]
    assert [table.rows for table in more.tables[:-1]] == [table.rows for table in whole.tables]
    assert extended(whole, found_among(strangers), terms_of(THEME), "0") is None
    assert extended(whole, known, terms_of(THEME), "0") is None
    made, record = complexify(database(), more, 1, "0", 60)
    assert record is not None
    assert any(change.startswith("mined table shops") for change in record.changes)
    assert not made.entry("shops").synthetic
    assert made.problems() == []
