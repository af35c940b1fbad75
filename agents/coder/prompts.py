"""What the model coder is told."""

RULES = """Rules:
- Each tool is one plain Python function with typed arguments; it returns JSON data: a flat object for one row,
  {{"items": [...], "total": n}} with at most 10 items for several, {{"count": n}}, {{"value": x}}, or the row it wrote.
- Use the helpers of the head (_rows, _find, _page, _checked, _insert, _set, _remove) and raise
  ToolError(code, message) to refuse: not_found, invalid_value, already_exists, in_use. Standard library only.
- No state in memory, no clock, no randomness, no network. A tool that only reads must leave the files as they are.
- Tests are functions without arguments that call `tools.NAME(...)`, at least three a tool: normal use, an edge,
  a refusal. Write expected values from the rows you are shown. Helpers: check, close, refused, broken, stored, changes.
- A missing or damaged table is an error of the environment (ToolError code broken_table, which the helpers of the head
  raise), never an empty answer or not_found. A tool touches the files of the tables alone, and reads those of the notes
  where the environment has notes (`_note_lines(note)`, `NOTES`): no other file, no network.
- Where tools of the real service are listed, do these first: same name (as a Python name), same parameters, as far as
  the data decides what they answer; say so in `mirrors` (the real tool's name). Leave out a parameter that the data
  cannot serve. Do not imitate a tool that the data cannot answer. `cancel` is a state, never a deletion.
- `operation` (optional) says what it does: {{"kind", "table", "column", "function", "inputs", "outputs"}}; kind is
  one of get, search, list, related, count, aggregate, create, update, delete; `inputs` maps an argument, `outputs`
  an output path such as `items[].id`, to the "table.column" that it stands for. A search finds parts of texts, whatever
  their case; a list has the rows equal to its arguments. What `operation` says is checked against the raw files by
  tests that you do not write; a tool that contradicts them is not kept."""

WRITE = (
    """Write tools for an environment, each with unit tests.

{brief}

The head of tools.py, already written:
```python
{head}
```
The head of tool_tests.py, already written:
```python
{test_head}
```
Write at most {most} tools that people who work with this data would want: reading, searching, counting, aggregating,
and writing with honest preconditions; balanced over the tables.
"""
    + RULES
)

REPAIR = (
    """Some tools that you wrote fail. Write these anew, source and tests, whichever of the two is wrong.

{brief}

The head of tools.py:
```python
{head}
```
The head of tool_tests.py:
```python
{test_head}
```
{failing}

Give the whole tool again, under the same name.
"""
    + RULES
)
