"""The state of a database: its rows by table, key and column, read by the trusted side from the files.

How a file is read goes by its name's end:

- `json`: a list of objects is rows, whose order is no state; other items of a list are rows by their place. An object
  is a table for each key that holds a list or an object, and one row (`value`) for its plain values; an object of
  records (objects with plain values or lists in them) is rows by its own keys. Anything else is one row.
- `jsonl`, `ndjson`: a row a line, as the items of a JSON list.
- `yaml`, `yml`: as JSON. Only `true`, `false`, `null` and plain decimal numbers have types: `yes`, `02138` and dates
  are text.
- `csv`, `tsv`: a row a line under the header, every cell text, with `,`, `;`, tab or `|` between cells. The byte order
  mark, quotes, line ends, empty lines and the order of rows and columns are no state.
- `sqlite`, `sqlite3`, `db`, and whatever begins as SQLite: tables as their own schema says, types kept (`'02138'` is
  text), a blob by its hash. The SQL of tables, views, indexes and triggers is state; rowids and `sqlite_sequence` not.
- `md`, `markdown`: front matter is a row, a table its rows (by the first column), the rest text by line under its
  heading.
- other text is one row of `files`; a diff tells which lines were added, removed and changed, and order counts.
- anything else is one row of `files`: size and sha256.

A key is the primary key that the schema names, else the file's own, else the row's content; no row is lost where a key
occurs twice. Values keep their types: 1, 1.0, true and "1" are four values. A file that is not what its name says
(broken, or with a key twice in an object, a column twice in a header, lines of unequal length, an alias, a lone
surrogate, more than the bounds below), a link, a pipe or an empty folder is one row of `files` that says so, with its
text or hash. Nothing a hostile file holds raises, or takes more time or memory than its size allows for.

What `DatabaseSchema.volatile` names takes no part in state, hash and diff.
"""

from agent_world.tools.state.changes import diff
from agent_world.tools.state.model import FILES, State
from agent_world.tools.state.read import read_state
from agent_world.tools.state.volatile import check_volatile

__all__ = ["FILES", "State", "check_volatile", "diff", "read_state"]
