"""Changes at the end of a long walk, on what it found; the planner sees to it that each is possible and changes
something."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agent_world.agents.synthesizer.deep import Story
from agent_world.agents.synthesizer.endings import condition, name_of, short
from agent_world.agents.synthesizer.gather import Many, One, found
from agent_world.agents.synthesizer.meaning import Command, Group, Subject, Where
from agent_world.agents.synthesizer.measures import counters
from agent_world.agents.synthesizer.moves import statable
from agent_world.agents.synthesizer.operations import arguments_for
from agent_world.agents.synthesizer.script import Given, Site, said
from agent_world.agents.synthesizer.world import Action, Row, World
from agent_world.agents.synthesizer.writes import cell_value, new_value, referenced
from agent_world.schema import Fold, Ref

MOST_EACH = 14
"""Rows changed one by one, at most."""


def act_on_row(story: Story, one: One) -> bool:
    """Change it, remove it, add something to it, or move what belongs to it."""
    kinds: list[Callable[[Story, One], bool]] = [_set, _remove, _add, _move]
    weights = [_share(story, *k) for k in (("update",), ("delete",), ("create",), ("custom",))]
    if any(a.table.name == one.site.table for a in story.world.operations):
        kinds, weights = [*kinds, _operate], [*weights, 4.0]
    return any(story.rng.choices(kinds, weights)[0](story, one) for _ in range(6))


def _share(story: Story, *kinds: str) -> float:
    return 3.0 if story.bias.kinds & set(kinds) else 1.0


def _write(story: Story, action: Action, arguments: dict[str, Given], kind: str) -> int:
    step = story.script.call(action, arguments, kind)
    story.written.add(step)
    return step


def _key(story: Story, site: Site) -> Given | None:
    key = story.world.tables[site.table].primary_key
    return site.given(key) if story.script.detail(site, key) else None


def updater(story: Story, table: str) -> tuple[Action, str, str] | None:
    """An update tool that needs a key and one value: the tool, the argument, and the column."""
    options = []
    for action in story.world.of("update", table=table):
        needed = [a for a in action.values if a in action.required] or list(action.values)[:1]
        if len(needed) == 1 and action.key is not None:
            options.append((action, needed[0], action.values[needed[0]]))
    return story.rng.choice(options) if options else None


def _set(story: Story, one: One) -> bool:
    tool, key = updater(story, one.site.table), _key(story, one.site)
    if tool is None or key is None:
        return False
    action, argument, column = tool
    value = new_value(story.world, action.table, column, one.site.row.get(column), story.rng)
    if value is None or not action.key or column in _decided(story):
        return False
    step = _write(story, action, {action.key: key, argument: said(value)}, story.script.kind_of(action.table.name))
    return _close(
        story, one, action, step, Command("set", action.table.name, one.subject, ((column, value),)), {column}
    )


def _decided(story: Story) -> set[str]:
    """Columns that the row was picked by."""
    return {p.measure.column for p in story.picks if p.measure.kind == "own"}


def _remove(story: Story, one: One) -> bool:
    key = _key(story, one.site)
    for action in story.world.of("delete", table=one.site.table):
        if key is None or not action.key or referenced(story.world, action.table, one.site.row):
            continue
        step = _write(story, action, {action.key: key}, story.script.kind_of(action.table.name))
        return _close(story, one, action, step, Command("remove", action.table.name, one.subject), set())
    return False


def _operate(story: Story, one: One) -> bool:
    """A business operation that the row's state allows."""
    options = [a for a in story.world.operations if a.table.name == one.site.table]
    action, key = story.rng.choice(options), _key(story, one.site)
    values = arguments_for(story.world, action, one.site.row, story.rng)
    if key is None or values is None or not action.key or action.rule is None:
        return False
    given = {action.key: key, **{a: said(v) for a, v in values.items()}}
    step = _write(story, action, given, story.script.kind_of(action.table.name))
    command = Command("do", action.table.name, one.subject, tuple(values.items()), link=action.name)
    return _close(story, one, action, step, command, {*action.rule.sets.values(), action.rule.status or ""})


def _close(story: Story, one: One, action: Action, step: int, command: Command, changed: set[str]) -> bool:
    """Something of the row written is told, so that there is an answer."""
    world, table = story.world, action.table
    stated = one.subject.literals()
    options = [
        c for c in action.paths
        if c not in changed and statable(one.site.row.get(c)) and one.site.row[c] not in stated
        and world.clear_cell(table.name, c, one.site.row)
        and world.foreign_key(table.name, c) is None and (c != table.primary_key or not world.opaque(table.name))
    ]  # fmt: skip
    if not options:
        return False
    weights = [4.0 if c in (table.label, table.primary_key) else 1.0 for c in options]
    column = story.draw(options, weights) or options[0]
    ref = Ref(step=step, path=action.item_paths()[column])
    story.tell(column, short(table.name), ref, table.column(column).type, one.site.row[column])
    story.commands.append(replace(command, tells=(column,)))
    return True


def _add(story: Story, one: One) -> bool:
    """A row that refers to this one; all else is stated."""
    options = []
    for action in story.world.of("create"):
        for argument, column in action.values.items():
            key = story.world.foreign_key(action.table.name, column)
            if key and key.table == one.site.table and story.script.detail(one.site, key.target):
                options.append((action, argument, column, key.target))
    if not options:
        return False
    action, argument, column, target = story.rng.choice(options)
    model = story.rng.choice(story.world.rows[action.table.name])
    values = _new_row(story, action, argument, model)
    if values is None:
        return False
    tells = _told(action, column, values)
    counter = None
    if tells is None or _said(one, column, tells, values, action):
        counter, tells = _counter(story.world, one, action, column), ""
        if counter is None:
            return False
    arguments = {**{a: said(v) for a, v in values.items()}, argument: one.site.given(target)}
    step = _write(story, action, arguments, story.script.kind_of(one.site.table))
    pairs = tuple((action.values[a], v) for a, v in values.items())
    if counter:
        _count_after(story, one, action, column, pairs, counter)
        return True
    ref = Ref(step=step, path=action.item_paths()[tells])
    expected = values.get(
        next((a for a, c in action.values.items() if c == tells), ""), one.site.row[target] if tells == column else None
    )
    story.tell(tells, short(action.table.name), ref, action.table.column(tells).type, expected)
    story.commands.append(Command("add", action.table.name, one.subject, pairs, (tells,), link=column))
    return True


def _said(one: One, link: str, tells: str, values: dict[str, Any], action: Action) -> bool:
    """Whether the question says the value already: of the new row, or as the row's that it belongs to."""
    if tells in {action.values[a] for a in values}:
        return True
    return (
        tells == link and one.subject.kind in ("key", "label", "value") and one.subject.value in one.site.row.values()
    )


def _counter(world: World, one: One, action: Action, link: str) -> tuple[Action, str] | None:
    """A tool that tells how many rows there are of the kind for this one, and its argument for this one."""
    key = world.foreign_key(action.table.name, link)
    if key is None or world.disputed(key.table, action.table.name, link, "count"):
        return None
    fitting = (
        (tool, argument)
        for tool, argument in counters(world, action.table, link)
        if tool.accepts(argument, one.site.row[key.target])
    )
    return next(fitting, None)


def _count_after(
    story: Story, one: One, action: Action, link: str, pairs: tuple[tuple[str, Any], ...], counter: tuple[Action, str]
) -> None:
    """Ask for the count when the new row is there."""
    tool, argument = counter
    world, table = story.world, action.table
    key = world.foreign_key(table.name, link)
    assert key is not None
    step = story.script.call(tool, {argument: one.site.given(key.target)}, story.script.kind_of(key.table))
    ref = Ref(step=step, path="count" if tool.kind == "count" else "total")
    count = len(world.where(table.name, link, one.site.row[key.target])) + 1
    story.tell("count", short(table.name), ref, "integer", count)
    group = Group(table.name, (Where(link, subject=one.subject),))
    story.commands.append(Command("add", table.name, one.subject, pairs, link=link, counted=group))


def _new_row(story: Story, action: Action, link: str, model: Row) -> dict[str, Any] | None:
    """The required arguments but `link`, and some others; None when there is none or one cannot be made up."""
    free = [argument for argument in action.values if argument != link]
    chosen = [argument for argument in free if argument in action.required or story.rng.random() < 0.3] or free[:1]
    values = {}
    for argument in chosen:
        column = action.table.column(action.values[argument])
        values[argument] = cell_value(story.world, action.table, column, model, story.rng)
    return values if values and all(statable(v) for v in values.values()) else None


def _told(action: Action, link: str, values: dict[str, Any]) -> str | None:
    """What the new row shows that the question does not say, if there is such a thing; else its key."""
    stated = {action.values[a] for a in values}
    return next((c for c in (link, action.table.primary_key) if c in action.paths and c not in stated), None)


def _move(story: Story, one: One) -> bool:
    """All rows that refer to this one are moved to another one that the question names."""
    world = story.world
    options = [a for a in world.of("custom") if a.operation.function == "reassign" and len(a.filters) == 2]
    options = [
        a
        for a in options
        if (k := world.foreign_key(a.table.name, a.operation.column or "")) and k.table == one.site.table
    ]
    if not options or story.commands:
        return False
    action = story.rng.choice(options)
    column = action.operation.column or ""
    key = world.foreign_key(action.table.name, column)
    source = next((a for a in action.filters if a.startswith("from")), None)
    target = next((a for a in action.filters if a.startswith("to")), None)
    if key is None or source is None or target is None or not story.script.detail(one.site, key.target):
        return False
    moved = world.where(action.table.name, column, one.site.row[key.target])
    other = _other(story, key.table, key.target, one.site.row)
    if not moved or other is None:
        return False
    subject, given = other
    step = _write(story, action, {source: one.site.given(key.target), target: given}, story.script.kind_of(key.table))
    story.tell("moved", short(action.table.name), Ref(step=step, path="moved"), "integer", len(moved))
    story.commands.append(Command("move", action.table.name, one.subject, link=column, target=subject))
    return True


def _other(story: Story, table: str, key: str, row: Row) -> tuple[Subject, Given] | None:
    """Another row of the table, by a key that people use or by its name."""
    rows = [r for r in story.world.rows[table] if r[key] != row[key] and statable(r[key])]
    if not rows:
        return None
    other = story.rng.choice(rows)
    if not story.world.opaque(table):
        return Subject("key", table, key, other[key]), said(other[key])
    one = found(story.script, table, other)
    return (one.subject, one.site.given(key)) if one and key in one.site.shown else None


# --- On each row of a group -----------------------------------------------------------------------------------


def act_on_each(story: Story, many: Many) -> bool:
    """The same change of all rows that meet a condition (or of all, where there are few)."""
    tool = updater(story, many.table)
    if tool is None or not tool[0].key:
        return False
    action, argument, column = tool
    group, sites = many.group, many.sites
    if group.first:  # how many they are is said
        return False
    if len(sites) > 3 or group.named:
        narrowed = condition(story, many, most=MOST_EACH)
        if narrowed is None or narrowed[0].column == column:
            return False
        group, sites = replace(group, where=(*group.where, narrowed[0])), narrowed[1]
    value = new_value(story.world, action.table, column, None, story.rng)
    if value is None or any(s.row.get(column) == value for s in sites) or any(w.column == column for w in group.where):
        return False
    return _set_each(story, action, argument, Where(column, value), group, sites)


def _set_each(story: Story, action: Action, argument: str, new: Where, group: Group, sites: list[Site]) -> bool:
    named = name_of(story, sites) or action.table.primary_key
    refs = []
    for site in sites:
        key = _key(story, site)
        if key is None or action.key is None or named not in action.paths or len(sites) > MOST_EACH:
            return False
        step = _write(story, action, {action.key: key, argument: said(new.value)}, story.script.kind_of(site.table))
        refs.append(Ref(step=step, path=action.item_paths()[named]))
    story.tell("count", short(group.table), Fold(function="count", of=tuple(refs)), "integer", len(sites))
    story.commands.append(Command("set each", group.table, None, ((new.column, new.value),), group=group))
    return True
