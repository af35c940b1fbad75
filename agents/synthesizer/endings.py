"""What a long walk asks of the row or group where it ends."""

from collections.abc import Callable
from typing import Any

from agent_world.agents.synthesizer.deep import Story, fixed, measure_all, measure_tool, measure_weight, settled
from agent_world.agents.synthesizer.gather import Many, One
from agent_world.agents.synthesizer.meaning import (
    Comparison,
    CountAsk,
    FieldAsk,
    FoldAsk,
    Group,
    Measure,
    RankAsk,
    ShareAsk,
    Subject,
    Where,
)
from agent_world.agents.synthesizer.measures import clear, compared, dated, links, measure, ranked, reachable, value_of
from agent_world.agents.synthesizer.moves import reduced, statable
from agent_world.agents.synthesizer.script import Cell, Site
from agent_world.agents.synthesizer.words import additive, column_words, singular, timed
from agent_world.agents.validator.replay import meets
from agent_world.schema import Column, Fold, Table

MOST_NAMES = 8
FEWEST_NAMES = 3
RANKED = 0.3
"""Share of groups that are put in order."""
KEYS = {"sum": "total", "mean": "average", "min": "lowest", "max": "highest", "range": "difference"}


def short(table: str) -> str:
    return table if "_by_" in table else singular(table).replace(" ", "_")


def plurals(word: str) -> str:
    """`city` -> `cities`: of a column."""
    if word.endswith("s"):
        return word
    return f"{word[:-1]}ies" if word.endswith(("ty", "ry")) else f"{word}s"


# --- Of a group -------------------------------------------------------------------------------------------


def ask_group(story: Story, many: Many) -> bool:
    """A number over all rows, how many meet a condition, or which do; in the longest walks often two of these."""
    kinds: list[Callable[[Story, Many], bool]] = [ask_fold, ask_share, ask_names]
    if story.rng.random() < RANKED and ask_ranking(story, many):
        return True
    wanted = 2 if story.level == 5 and story.rng.random() < 0.5 else 1
    for ask in story.rng.sample(kinds, len(kinds)):
        if ask(story, many):
            wanted -= 1
        if not wanted:
            break
    return bool(story.asks)


def ask_ranking(story: Story, many: Many) -> bool:
    """All rows by name, in the order of a number that no two share."""
    world, table, named = story.world, story.world.tables[many.table], name_of(story, many.sites)
    if named is None or many.group.first or not FEWEST_NAMES <= len(many.sites) <= MOST_NAMES:
        return False
    values = {
        m: [value_of(world, s.table, s.row, m) for s in many.sites]
        for m in ranked(world, table)
        if m.kind != "fold" and m.column != named and not settled(many, m)
    }
    options = [m for m, found in values.items() if all(map(statable, found)) and len(set(found)) == len(found)]
    wanted = story.draw(options, [measure_weight(story, many, m) for m in options])
    if wanted is None or not measure_all(story, many, wanted):
        return False
    highest = story.rng.random() < 0.6
    order = sorted(range(len(many.sites)), key=lambda i: values[wanted][i], reverse=highest)
    cells = [story.script.detail(many.sites[i], named) for i in order]
    if any(cell is None for cell in cells):
        return False
    fold = Fold(function="list", of=tuple(cell.refs[0] for cell in cells if cell))
    expected = [many.sites[i].row[named] for i in order]
    kind = f"[{table.column(named).type}]"
    story.ordered.add(story.tell(plurals(named), short(many.table), fold, kind, expected))
    story.asks.append(RankAsk(many.group, wanted, highest, named))
    return True


def ask_fold(story: Story, many: Many) -> bool:
    world, table = story.world, story.world.tables[many.table]
    options = [
        m for m in ranked(world, table)
        if m.kind != "fold" and not settled(many, m) and not (m.kind == "own" and dated(world, table, m.column))
        and all(value_of(world, s.table, s.row, m) is not None for s in many.sites)
        and 2 * sum(value_of(world, s.table, s.row, m) != 0 for s in many.sites) >= len(many.sites)
    ]  # fmt: skip
    wanted = story.draw(options, [measure_weight(story, many, m) for m in options])
    cells = measure_all(story, many, wanted) if wanted and len(many.sites) > 1 else []
    if wanted is None or not cells:
        return False
    function = story.rng.choice(_functions(story, wanted))
    values = [cell.value for cell in cells]
    column = _column(story, wanted, table)
    whole = function != "mean" and (column is None or column.type == "integer")
    expected = max(values) - min(values) if function == "range" else reduced(function, values)
    fold = Fold(function=function, of=tuple(cell.refs[0] for cell in cells))
    story.tell(KEYS[function], short(many.table), fold, "integer" if whole else "number", expected)
    story.asks.append(FoldAsk(many.group, wanted, function, rounded=not whole and function in ("mean", "sum", "range")))
    return True


def _functions(story: Story, wanted: Measure) -> tuple[str, ...]:
    if wanted.kind == "children":
        return ("sum", "mean")
    if wanted.kind == "parent" and not timed(
        column_words(wanted.column)
    ):  # a parent that several rows share would be summed several times
        return ("mean", "max", "min", "range")
    if timed(column_words(wanted.column)):
        return ("max", "min", "range")
    additional = ("sum",) if additive(column_words(wanted.column)) else ()
    return ("mean", "range", "max", "min", *additional)


def _column(story: Story, wanted: Measure, table: Table) -> Column | None:
    """None for a number of children."""
    if wanted.kind == "children":
        return None
    return (story.world.tables[wanted.table] if wanted.kind == "parent" else table).column(wanted.column)


def ask_share(story: Story, many: Many) -> bool:
    found = condition(story, many)
    if found is None:
        return False
    where, kept, cells = found
    refs = tuple(cell.refs[0] for cell in cells)
    fold = Fold(function="count", of=refs, comparison=where.comparison, value=where.value)
    story.tell("count", short(many.table), fold, "integer", len(kept))
    story.asks.append(ShareAsk(many.group, where))
    return True


def ask_names(story: Story, many: Many) -> bool:
    table = story.world.tables[many.table]
    named = name_of(story, many.sites)
    found = condition(story, many, most=MOST_NAMES) if named else None
    if named is None or found is None:
        return False
    where, kept, _ = found
    cells = [story.script.detail(s, named) for s in kept]
    if any(c is None for c in cells):
        return False
    word = plurals(named)
    refs = tuple(cell.refs[0] for cell in cells if cell)
    values = [s.row[named] for s in kept]
    kind = f"[{table.column(named).type}]"
    story.tell(word, short(many.table), Fold(function="list", of=refs), kind, values)
    story.asks.append(ShareAsk(many.group, where, named))
    return True


def condition(story: Story, many: Many, most: int = 99) -> tuple[Where, list[Site], list[Cell]] | None:
    """A condition that some rows meet and some do not, who meets it, and its values, called for."""
    world = story.world
    options = [m for m in compared(world, world.tables[many.table]) if not settled(many, m)]
    wanted = story.draw(options, [measure_weight(story, many, m) for m in options])
    if wanted is None:
        return None
    values = [value_of(world, s.table, s.row, wanted) for s in many.sites]
    known = sorted({v for v in values if statable(v)}, key=repr)
    if len(known) < 2:
        return None
    value = story.rng.choice(known)
    comparison = story.rng.choice(_comparisons(story, many, wanted, value))
    if wanted.kind == "children" and value < {">": 1, "<": 2}[comparison]:
        return None  # nobody says `over 0 loans`
    where = Where(wanted.column, value, comparison=comparison, measure=wanted)
    kept = [s for s, v in zip(many.sites, values, strict=True) if meets(v, comparison, value)]
    cells = measure_all(story, many, wanted) if 0 < len(kept) < len(many.sites) and len(kept) <= most else []
    if not cells:
        return None
    story.choices += 1
    return where, kept, cells


def _comparisons(story: Story, many: Many, wanted: Measure, value: Any) -> tuple[Comparison, ...]:
    if wanted.kind == "children" or (
        wanted.kind == "own" and dated(story.world, story.world.tables[many.table], wanted.column)
    ):
        return (">", "<")
    return ("=",) if isinstance(value, str | bool) else (">", "<", ">=", "<=")


def name_of(story: Story, sites: list[Site]) -> str | None:
    """A column that people tell the rows apart by."""
    table = story.world.tables[sites[0].table]
    for column in (table.label, table.primary_key):
        if column is None or not reachable(story.world, table, column):
            continue
        values = [s.row.get(column) for s in sites]
        if all(map(statable, values)) and len(set(values)) == len(values):
            return column
    return None


# --- Of one row -------------------------------------------------------------------------------------------


def ask_row(story: Story, one: One) -> bool:
    """One or two things about it: fields, a field of its parent, a number of its children."""
    wanted = 1 if story.level < 3 or story.rng.random() < 0.5 else 2
    kinds: list[Callable[[Story, One], bool]] = [ask_fields, ask_parent, ask_children]
    weights = (1.0, 1.2, 1.2)
    done: list[Callable[[Story, One], bool]] = []
    for _ in range(6):
        ask = story.rng.choices(kinds, weights)[0]
        if ask not in done and ask(story, one):
            done.append(ask)
        if len(done) == wanted:
            break
    return bool(done) or ask_fields(story, one)


def ask_fields(story: Story, one: One) -> bool:
    table = story.world.tables[one.site.table]
    known = {one.subject.column} if one.subject.kind in ("key", "label") else set()
    known |= {table.label or "", table.primary_key} if story.picks and story.picks[-1].group.named else set()
    known |= {w.column for p in story.picks for w in p.group.where if p.group.table == table.name}
    options = [c.name for c in table.columns if c.name not in known and _of_use(story, one.site, c.name)]
    if not options:
        return False
    count = min(len(options), 1 if story.level < 3 or story.rng.random() < 0.6 else 2)
    weights = [3.0 if c in (table.label, table.primary_key) else 1.0 for c in options]
    chosen = {c for _ in range(count) if (c := story.draw(options, weights))}
    columns = tuple(c for c in options if c in chosen)
    return _tell(story, one.subject, one.site, columns)


def _of_use(story: Story, site: Site, column: str) -> bool:
    """Whether a person would ask for it, and a tool shows it."""
    table = story.world.tables[site.table]
    link = story.world.foreign_key(table.name, column)
    opaque = story.world.opaque(link.table if link else table.name) if link or column == table.primary_key else False
    shown = reachable(story.world, table, column) and clear(story.world, table, column)
    told = statable(site.row.get(column)) and story.world.clear_cell(table.name, column, site.row)
    return told and shown and not opaque


def _tell(story: Story, subject: Subject, site: Site, columns: tuple[str, ...]) -> bool:
    cells = [story.script.detail(site, column) for column in columns]
    if not columns or any(cell is None for cell in cells):
        return False
    table = story.world.tables[site.table]
    for column, cell in zip(columns, cells, strict=True):
        assert cell is not None
        story.tell(column, short(table.name), cell.refs[0], table.column(column).type, cell.value)
    story.asks.append(FieldAsk(subject, columns))
    return True


def ask_parent(story: Story, one: One) -> bool:
    world, rng = story.world, story.rng
    options = [o for o in links(world, world.tables[one.site.table]) if one.subject.depth == 1]
    options = [(link, parent) for link, parent in options if not fixed(story, one, link)]
    if not options:
        return False
    link, parent = rng.choice(options)
    site = story.script.parent(one.site, link)
    if site is None:
        return False
    columns = [c.name for c in parent.columns if c.name != parent.primary_key and _of_use(story, site, c.name)]
    if not columns:
        return False
    return _tell(story, Subject("parent", parent.name, link, of=one.subject), site, (rng.choice(columns),))


def _told_once(story: Story, one: One, measure: Measure) -> bool:
    """Whether the row itself has no other number for this figure over what refers to it."""
    function = "count" if measure.kind == "children" else measure.function
    table = story.world.tables[one.site.table]
    disputed = story.world.disputed(table.name, measure.table, measure.link, function, measure.column)
    return one.site.row.get(table.primary_key) not in disputed


def ask_children(story: Story, one: One) -> bool:
    """How many there are, or a number made of them."""
    table = story.world.tables[one.site.table]
    options = [m for m in ranked(story.world, table) if m.kind in ("children", "fold")]
    options = [m for m in options if value_of(story.world, table.name, one.site.row, m) and _told_once(story, one, m)]
    options = [m for m in options if not story.picks or story.picks[-1].measure != m]
    wanted = story.draw(options, [story.edge(one.tool, measure_tool(story.world, m) or one.tool) for m in options])
    cell = measure(story.script, one.site, wanted) if wanted else None
    if wanted is None or cell is None:
        return False
    group = Group(wanted.table, (Where(wanted.link, subject=one.subject),))
    child = short(wanted.table)
    if wanted.kind == "children":
        story.tell("count", child, cell.refs[0], "integer", cell.value)
        story.asks.append(CountAsk(group))
        return True
    whole = wanted.function != "mean" and story.world.tables[wanted.table].column(wanted.column).type == "integer"
    answer = Fold(function=wanted.function, of=cell.refs) if cell.function else cell.refs[0]
    story.tell(KEYS[wanted.function], child, answer, "integer" if whole else "number", cell.value)
    story.asks.append(
        FoldAsk(
            group,
            Measure("own", wanted.column),
            wanted.function,
            rounded=cell.function in ("mean", "sum") and not whole,
        )
    )
    return True
