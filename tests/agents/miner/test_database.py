"""From chosen candidates to databases: joins hold, facts stay, complexity rises."""

from pathlib import Path
from typing import Any

import pytest

from agent_world.agents.miner.build import first_database, make_material, write_bundle
from agent_world.agents.miner.candidates import Candidate, candidates_of
from agent_world.agents.miner.complexify import complexify
from agent_world.agents.miner.database import Database, load_database
from agent_world.agents.miner.fit import terms_of
from agent_world.agents.miner.formats import likely_formats
from agent_world.agents.miner.material import Material
from agent_world.agents.miner.procedural import align
from agent_world.agents.miner.sample import sample
from agent_world.agents.miner.score import complexity
from agent_world.memory.store import Bundle
from agent_world.schema import Origin, Theme
from agent_world.tools.web.page import RawTable

THEME = Theme(
    id="shop", name="Bike shop", description="Bikes, orders and makers.", kind="prd", source="x.md", keywords=("order",)
)
MADE = Origin(engine="procedural")


def raw(name: str, header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> RawTable:
    return RawTable(name, header, tuple(rows), f"http://site/bike/{name}", as_of=None, sha256="0" * 64, licence=None)


def tables() -> list[RawTable]:
    bikes = [(f"B{i:03d}", f"Bike {i}", f"M{i % 6}", 300 + 7 * i, ("city", "road")[i % 2]) for i in range(90)]
    makers = [(f"M{i}", f"Maker {i}", ("NL", "IT")[i % 2]) for i in range(6)]
    orders = [
        (i, f"B{i * 7 % 95:03d}", 1 + i % 3, f"2025-0{1 + i % 9}-01", "web" if i % 4 else None, i % 11, i * 2.5, "x")
        for i in range(1, 301)
    ]
    return [
        raw("bikes", ("bike_code", "name", "maker", "price", "kind"), bikes),
        raw("makers", ("maker", "name", "country"), makers),
        raw("orders", ("id", "bike_code", "pieces", "date", "channel", "discount", "freight", "constant"), orders),
    ]


def found_among(*found: RawTable, material_tables: bool = False) -> list[Candidate]:
    """As candidates of the shop; `material_tables` adds those that its material is made of."""
    whole = [*found, *(tables() if material_tables else ())]
    return candidates_of([(table, "A bike shop: bikes, orders, makers") for table in whole], terms_of(THEME))


def material(seed: str = "0") -> Material:
    return make_material(align(found_among(material_tables=True), 4), terms_of(THEME), seed)


def database(max_rows: int = 60, seed: str = "0") -> Database:
    return first_database(material(), seed, max_rows)


def facts(of: Database | Material) -> dict[str, set[str]]:
    """Every mined cell as text, with its table, key and column."""
    tables = [e.table for e in of.mined()] if isinstance(of, Database) else [t.table() for t in of.tables]
    return {
        table.name: {
            f"{row[table.key]}.{column}={row[column]!r}" for row in table.records() for column in table.columns
        }
        for table in tables
    }


def test_material_holds_its_references_and_leaves_out_what_tells_nothing() -> None:
    found = {table.name: table for table in material().tables}
    assert [k.table for k in found["orders"].foreign_keys] == ["bikes"]
    assert [k.table for k in found["bikes"].foreign_keys] == ["makers"]
    assert {row[1] for row in found["orders"].rows} <= {row[0] for row in found["bikes"].rows}
    assert len(found["orders"].rows) < 300
    assert "constant" not in found["orders"].columns
    assert all(len(table.columns) <= 8 for table in found.values())


@pytest.mark.parametrize("max_rows", [30, 60, 1000])
def test_a_sample_keeps_every_reference_within_its_size(max_rows: int) -> None:
    made = first_database(material(), "0", max_rows)
    assert made.problems() == []
    assert all(len(entry.table.rows) <= max_rows for entry in made.entries)


def test_a_larger_sample_contains_the_smaller() -> None:
    whole = material()
    first = sample(whole, 0.6, 60, "0")
    second = sample(whole, 1.0, 60, "0", keep=first)
    assert all(set(first[name].rows) <= set(second[name].rows) for name in first)
    assert len(second["orders"].rows) == 60 > len(first["orders"].rows)


def test_two_themes_draw_different_rows() -> None:
    one, two = database(seed="0:shop"), database(seed="0:other")
    assert facts(one)["orders"] != facts(two)["orders"]


def test_formats_differ_between_the_tables_of_a_database() -> None:
    assert len({entry.format for entry in database().entries}) == 3
    made = complexify(database(), material(), 1, "0", 60)[0]
    assert len({entry.format for entry in made.entries}) == 5


@pytest.mark.parametrize(
    ("form", "formats"),
    [
        *(("csv", {"csv"}), ("json", {"json"}), ("ndjson", {"jsonl"}), ("sqlite", {"sqlite"}), ("md", {"markdown"})),
        *(("xlsx", {"csv", "sqlite"}), ("jsonld", {"json", "jsonl"}), ("html", {"json", "markdown"})),
    ],
)
def test_a_table_stays_in_its_sources_format_or_one_like_it(form: str, formats: set[str]) -> None:
    whole = Material(tables=tuple(table.model_copy(update={"form": form}) for table in material().tables))
    made = first_database(whole, "0", 60)
    assert {entry.format for entry in made.entries if entry.name != "makers"} <= formats
    assert len({entry.format for entry in made.entries}) >= len(formats)
    small = {likely_formats(whole.tables[whole.names().index("makers")], str(seed))[0] for seed in range(30)}
    assert small == formats | ({"yaml"} if form == "html" else set())


def test_complexification_raises_the_score_and_alters_no_mined_fact() -> None:
    whole, made = material(), database()
    for number in (1, 2, 3):
        grown, record = complexify(made, whole, number, "0", 60)
        assert record is not None
        assert record.score_before == complexity(made) < record.score_after == complexity(grown)
        assert grown.problems() == []
        assert all(facts(made)[name] <= facts(grown)[name] <= facts(whole)[name] for name in facts(made))
        assert set(made.names()) < set(grown.names())
        made = grown
    assert {e.derivation.kind for e in made.entries if e.derivation} == {"summary", "workspace"}


def test_summaries_agree_with_the_rows_they_sum_up_also_after_more_rows() -> None:
    whole, made = material(), database()
    for number in (1, 2):
        made, _ = complexify(made, whole, number, "0", 60)
    for entry in made.entries:
        if entry.derivation and entry.derivation.kind == "summary":
            counted = sum(
                row[[c.endswith("_count") for c in entry.table.columns].index(True)] for row in entry.table.rows
            )
            source = made.entry(entry.derivation.table).table.records()
            assert counted == sum(all(row[c] is not None for c in entry.derivation.group) for row in source)


def test_tables_keep_their_columns_once_tools_exist() -> None:
    made = database()
    grown, _ = complexify(made, material(), 1, "0", 60, columns=False)
    assert all(grown.entry(e.name).table.columns == e.table.columns for e in made.entries)
    richer, _ = complexify(made, material(), 1, "0", 60)
    assert any(richer.entry(e.name).table.columns != e.table.columns for e in made.entries)


def test_complexification_works_without_the_material() -> None:
    made = database()
    grown, record = complexify(made, Material(tables=()), 1, "0", 60)
    assert record is not None
    assert facts(grown) == facts(made)


def test_when_nothing_is_left_to_add_the_database_stays_as_it_is() -> None:
    whole, made = material(), database()
    for number in range(1, 30):
        made, record = complexify(made, whole, number, "0", 60)
        if record is None:
            break
    assert record is None
    assert made.problems() == []


def test_a_bundle_is_the_same_byte_for_byte_and_comes_back_as_written(tmp_path: Path) -> None:
    made, _ = complexify(database(), material(), 1, "0", 60)
    hashes = [write_bundle(Bundle(tmp_path / n), THEME, material(), made, MADE).id for n in ("one", "two")]
    assert hashes == ["one", "two"]
    one, two = Bundle(tmp_path / "one"), Bundle(tmp_path / "two")
    assert one.content_hash() == two.content_hash() == one.environment().content_hash
    assert load_database(one, one.environment().database).tables().keys() == made.tables().keys()
    for entry in load_database(one, one.environment().database).entries:
        assert entry.table.rows == made.entry(entry.name).table.rows
    assert {source.file for source in one.environment().sources} == {e.file for e in made.mined()}
