"""What the system makes and passes on: themes, environments, tools, tasks, trajectories, diagnoses.

Three rules decide how a type is declared (see CONTRIBUTING):
- it is written to disk, indexed, sent, or produced by a model -> frozen pydantic, unknown keys refused (here);
- it lives inside one process only                             -> frozen dataclass, beside its user;
- it is a closed set of names                                  -> `Literal`.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

FORMAT_VERSION = 1
"""Version of the environment bundle; a reader refuses a newer one."""

Engine = Literal["procedural", "llm"]
Json = Any
"""A JSON value: what `json.loads` can return."""


class Record(BaseModel):
    """Base of everything that outlives the process."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Origin(Record):
    """Who made a thing, so that no number or text is ever without its source."""

    engine: Engine
    seed: int = 0
    model: str | None = None
    guideline: str | None = None
    """Id of the diagnosis guideline that asked for it."""


# --- Databases -------------------------------------------------------------------------------------

ColumnType = Literal["integer", "number", "string", "boolean"]
FileFormat = Literal["json", "jsonl", "csv", "sqlite", "markdown", "yaml"]


class Column(Record):
    name: str
    type: ColumnType
    nullable: bool = False
    unique: bool = False
    values: tuple[str, ...] = ()
    """All distinct values where they are few (a category), else empty."""
    description: str = ""
    """How the source heads it, where the name says that in another script or spelling."""


class ForeignKey(Record):
    column: str
    table: str
    target: str
    """Column of `table`; every non-null value of `column` occurs there (checked)."""
    owner: bool = False
    """Whether a row is a part of the one it refers to, as a line of an order is, and not only related to it."""


class Derivation(Record):
    """How complexification made a table: a summary of mined rows, or a place for the agent's own work on them."""

    kind: Literal["summary", "workspace"]
    table: str
    """The mined table that it summarises or refers to."""
    group: tuple[str, ...] = ()
    """Columns that a summary groups by."""
    measure: str | None = None
    """Numeric column that a summary averages."""


class Table(Record):
    """One table of a database. JSON and YAML files hold a list of row objects, JSON Lines one a line; SQLite and
    Markdown files one table of this name."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    file: str
    """Path below the bundle's `database/`."""
    format: FileFormat
    rows: int
    columns: tuple[Column, ...]
    primary_key: str
    """A unique, never-null column (for state and diff alone, also several with commas between: `flight, seat`)."""
    label: str | None = None
    """A unique string column that people call a row by (a name), where there is one."""
    foreign_keys: tuple[ForeignKey, ...] = ()
    synthetic: bool = False
    """True where complexification made it (a derived or linking table), False where it was mined."""
    derivation: Derivation | None = None
    """Of a synthetic table."""

    def column(self, name: str) -> Column:
        return next(c for c in self.columns if c.name == name)


class Note(Record):
    """A Markdown file of the workspace, about rows of one table: made up as a document, the quoted values are real."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    file: str
    """Path below the bundle's `database/`."""
    title: str
    table: str
    """What it is about."""
    synthetic: bool = True


class DatabaseSchema(Record):
    tables: tuple[Table, ...] = ()
    notes: tuple[Note, ...] = ()
    volatile: tuple[str, ...] = ()
    """Parts left out of state hash and diff (logs, counters of use): a table, a `table.column`, or a file, which may
    be a pattern (`*.log`). One that names nothing is refused when the environment is opened."""

    def table(self, name: str) -> Table:
        return next(t for t in self.tables if t.name == name)


class Source(Record):
    """Where a file of a database came from."""

    file: str
    address: str
    as_of: str | None = None
    """The source's own `Last-Modified`; the moment of retrieval is in the bundle's `provenance.json`."""
    sha256: str
    """Of the bytes received."""
    licence: str | None = None
    rows: int = 0


class Retrieval(Source):
    """A source, and when it was received."""

    retrieved: str = ""
    """ISO 8601 in UTC; empty where it is not known."""


class Provenance(Record):
    """`provenance.json`: where and when the mined files of a bundle were received.

    It is no content: the clock runs on, so two runs with one seed differ in `retrieved`, and in nothing else.
    """

    sources: tuple[Retrieval, ...] = ()


class ComplexificationRound(Record):
    number: int
    changes: tuple[str, ...]
    """One line of plain words a change."""
    score_before: float
    score_after: float
    files: tuple[str, ...] = ()
    """Files this round made; what was before it is kept in the workspace, beside what was mined, and undoes it."""
    left_out: tuple[str, ...] = ()
    """What it would have added to an environment without tools, and why it did not."""


# --- Themes, tools, environments ---------------------------------------------------------------------


class ToolAnnotations(Record):
    """MCP tool annotations, as far as we set them."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)
    read_only: bool = Field(default=False, alias="readOnlyHint")
    destructive: bool = Field(default=False, alias="destructiveHint")


OperationKind = Literal[
    "get", "search", "list", "related", "count", "aggregate", "create", "update", "delete", "custom"
]


class Operation(Record):
    """What a generated tool does to the data: known by construction, hidden from the policy.

    `inputs` maps an argument, `outputs` an output path, to the `table.column` it stands for. A path is
    dotted and `[]` steps into a list: `airport.iata`, `items[].iata`.
    """

    kind: OperationKind
    table: str
    column: str | None = None
    """The column acted on: aggregated, filtered by, updated."""
    function: str | None = None
    """For `aggregate`: sum, mean, min or max."""
    inputs: dict[str, str] = {}
    outputs: dict[str, str] = {}


class NamedRow(Record):
    """An argument that names a row of `table` by `key`; `shared`: columns of both rows that must agree; `flag`: a
    column that must be true of it."""

    argument: str
    table: str
    key: str
    shared: tuple[str, str] | None = None
    flag: str | None = None


class NamedParts(Record):
    """A list argument that names parts of the row by `column`: rows of `table` whose `link` leads to its `target`."""

    argument: str
    table: str
    link: str
    target: str
    column: str


class NewParts(Record):
    """A list argument that names, place by place, rows of `table` by `target` that the parts are exchanged for.

    `same`: columns of part and new row that must agree; `flag`: one that must be true of the new row. When `done`, a
    part gets the new row's `target`, and its `copies`.
    """

    argument: str
    table: str
    target: str
    same: tuple[str, str] | None = None
    flag: str | None = None
    copies: tuple[str, ...] = ()
    done: bool = False


class GivenToParts(Record):
    """An argument that all parts of the row get: rows of `table` whose `link` leads to its `target`, in `column`."""

    argument: str
    table: str
    link: str
    target: str
    column: str


class Capacity(Record):
    """The row of `table` whose `key` is `argument` takes as many rows (that refer to it by `column`) as its `limit`.

    Of those only the ones count that are still open: `empty` is not filled, `status` is one of `states`.
    """

    argument: str
    table: str
    key: str
    limit: str
    column: str
    empty: str | None = None
    status: str | None = None
    states: tuple[str, ...] = ()


class Stock(Record):
    """The row of `table` whose `key` is `argument` must have as much in `column` as `quantity` says; it is taken."""

    argument: str
    table: str
    key: str
    column: str
    quantity: str


class NewRow(Record):
    """What an operation that adds a row gives it by itself: `fixed` values, and a key where `numbered`.

    The key is the next number, in as many digits as `width` after `prefix`; a bare number where there is no prefix.
    """

    fixed: dict[str, str | int | float | bool | None] = {}
    numbered: bool = False
    prefix: str = ""
    width: int = 0


class BusinessRule(Record):
    """What a business operation demands and does, beyond its `Operation`; hidden from the policy too.

    Its row's `status` must be `needs` (or one of `among`), and becomes `after`; `sets` maps an argument to the column
    that it is put into; `choices` are the values that an argument may have. An operation with `adds` makes a row
    instead of changing one.
    """

    status: str | None = None
    needs: str | bool | None = None
    among: tuple[str, ...] = ()
    after: str | bool | None = None
    sets: dict[str, str] = {}
    choices: dict[str, tuple[str, ...]] = {}
    references: tuple[NamedRow, ...] = ()
    parts: NamedParts | None = None
    swap: NewParts | None = None
    spread: GivenToParts | None = None
    empty: tuple[str, ...] = ()
    """Columns that must not be filled yet."""
    ordered: tuple[tuple[str, str], ...] = ()
    """Pairs of columns, dates of which the first is not later than the second once it is done."""
    differ: tuple[str, ...] = ()
    """Arguments that must differ from what the row has."""
    later: tuple[str, ...] = ()
    """Arguments, dates that must be later than what the row has."""
    dates: tuple[str, ...] = ()
    """Arguments that are dates, as YYYY-MM-DD."""
    capacity: Capacity | None = None
    stock: Stock | None = None
    adds: NewRow | None = None


class ToolSpec(Record):
    """A tool as MCP `tools/list` gives it; what is ours alone is kept under `_meta`."""

    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    description: str
    input_schema: dict[str, Any] = Field(alias="inputSchema")
    output_schema: dict[str, Any] | None = Field(default=None, alias="outputSchema")
    annotations: ToolAnnotations = ToolAnnotations()
    meta: dict[str, Any] = Field(default={}, alias="_meta")

    @property
    def operation(self) -> Operation | None:
        found = self.meta.get("agent_world/operation")
        return Operation.model_validate(found) if found else None

    @property
    def rule(self) -> BusinessRule | None:
        found = self.meta.get("agent_world/rule")
        return BusinessRule.model_validate(found) if found else None

    def public(self) -> dict[str, Any]:
        """The OpenAI function form that a policy sees: name, description, parameters, nothing of ours."""
        function = {"name": self.name, "description": self.description, "parameters": self.input_schema}
        return {"type": "function", "function": function}


class Theme(Record):
    """What an environment is to be about (paper section 3.1, M = M1 + M2 + M3)."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    name: str
    description: str
    kind: Literal["mcp", "tool_docs", "prd"]
    source: str
    """Command, address or file name it was read from; the whole path and the time are in `theme_sources.jsonl`."""
    sha256: str = ""
    """Of the file that it was read from; of what the server or address told of it where it was no file."""
    keywords: tuple[str, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    """Interfaces of the real service, where the source has them."""


class ToolVerdict(Record):
    """The three-part filter of section 3.1 on one written tool."""

    tool: str
    compiled: bool
    tests_passed: int
    tests_total: int
    kept: bool
    reason: str
    """Why it was dropped, or `kept`."""
    origin: Origin


class Environment(Record):
    """`environment.json`: the head of a bundle (DESIGN: environment bundle)."""

    format_version: int = FORMAT_VERSION
    id: str
    name: str
    description: str
    theme: Theme
    taxonomy: tuple[str, ...] = ()
    """First-tier type, second-tier cluster; the environment itself is the third tier."""
    sources: tuple[Source, ...] = ()
    rounds: tuple[ComplexificationRound, ...] = ()
    database: DatabaseSchema = DatabaseSchema()
    tools: tuple[ToolVerdict, ...] = ()
    origin: Origin
    content_hash: str = ""
    """sha256 over the other files of the bundle but `tasks.jsonl` and `provenance.json`."""


class Dropped(Record):
    """A theme, tool or task that was not kept, and why: nothing vanishes silently."""

    kind: Literal["theme", "environment", "tool", "task"]
    id: str
    reason: str


# --- State -------------------------------------------------------------------------------------------


class RowChange(Record):
    table: str
    key: str
    """Primary key of the row as text; a file without rows is one row with its path as key, and a table that came or
    went without rows has an empty key. `tools.state` says how files become tables and rows."""
    kind: Literal["added", "removed", "changed"]
    before: dict[str, Json] | None = None
    after: dict[str, Json] | None = None
    """For `changed`, both hold the differing columns only."""


class StateDiff(Record):
    """Difference of a database from the one its instance began with, ordered by table and key."""

    changes: tuple[RowChange, ...] = ()


# --- Tasks -------------------------------------------------------------------------------------------


class Value(Record):
    """A literal argument: a row's value, or one the question states."""

    kind: Literal["value"] = "value"
    value: Json


class Ref(Record):
    """The value at `path` in the output of an earlier step (0-based): never a value of one run."""

    kind: Literal["ref"] = "ref"
    step: int
    path: str
    """Dotted; a number indexes a list: `items.0.id`; empty is the whole output."""


Argument = Annotated[Value | Ref, Field(discriminator="kind")]


class Step(Record):
    tool: str
    arguments: dict[str, Argument] = {}


FoldFunction = Literal["list", "count", "sum", "mean", "min", "max", "range"]


class Fold(Record):
    """One value that an agent works out of several that it has seen, after its last call.

    With a `comparison`, only values that meet it count. `mean` and sums of fractions are rounded to two decimals;
    `range` is the greatest less the least.
    """

    kind: Literal["fold"] = "fold"
    function: FoldFunction
    of: tuple[Ref, ...] = Field(min_length=1)
    comparison: Literal["=", ">", "<", ">=", "<="] | None = None
    value: Json = None


Answer = Annotated[Value | Ref | Fold, Field(discriminator="kind")]


class Chain(Record):
    """A reference solution by tool calls in order."""

    kind: Literal["chain"] = "chain"
    steps: tuple[Step, ...]
    answer: dict[str, Answer]


class Program(Record):
    """A reference solution as Python source defining `solve(tools) -> dict`; `tools.NAME(**args)` calls a tool."""

    kind: Literal["program"] = "program"
    source: str


Solution = Annotated[Chain | Program, Field(discriminator="kind")]

CriterionKind = Literal["schema", "equal", "number", "set", "state", "semantic"]


class Criterion(Record):
    """One typed check of a rubric.

    `schema`: the answer fits the task's answer schema, nothing more in it. `equal`: the field is the expected value.
    `number`: within `tolerance` (absolute). `set`: a list, order aside. `state`: the state change is the
    expected one and nothing else changed. `semantic`: a judge model decides; the only kind code cannot.
    """

    id: str
    kind: CriterionKind
    path: str = ""
    """Field of the answer."""
    expected: Json = None
    tolerance: float = 0.0
    description: str = ""


class Difficulty(Record):
    level: int = Field(ge=1, le=5)
    calls: int
    distinct_tools: int
    branches: int = 0
    depth: int = 0
    """How deep conditions stand in conditions."""
    weak_edges: int = 0
    """Steps whose arguments came, or could have come, from elsewhere; independent ones are counted apart."""
    independent_edges: int = 0
    hidden_cues: bool = False


class GateCheck(Record):
    name: str
    passed: bool
    detail: str = ""


class Validation(Record):
    status: Literal["pending", "gate only", "validated", "rejected"] = "pending"
    checks: tuple[GateCheck, ...] = ()
    attempts: int = 0
    """Runs of the ReAct validator that were scored (0 without a model)."""
    passes: int = 0

    @property
    def reason(self) -> str | None:
        """First failed check."""
        return next((f"{c.name}: {c.detail}" for c in self.checks if not c.passed), None)


class Task(Record):
    id: str
    environment: str
    strategy: Literal["graph", "program"]
    question: str
    answer_schema: dict[str, Any]
    """JSON Schema of an object; `additionalProperties` false, every field required."""
    reference_answer: dict[str, Json]
    solution: Solution
    rubric: tuple[Criterion, ...] = ()
    """For graph tasks: every criterion must pass."""
    verifier: str | None = None
    """For programmatic tasks: Python source of `verify(answer, reference, diff, expected_diff) -> None`,
    assertions that raise on failure; run in the sandbox, never in our process."""
    state_change: StateDiff = StateDiff()
    plan: dict[str, Json] | None = None
    """For programmatic tasks: what is done, apart from tools and words, so that a second reader can compute it."""
    difficulty: Difficulty
    validation: Validation = Validation()
    origin: Origin
    round: int = 0
    """Evolution round that made it; 0 is the first synthesis."""


# --- Episodes and scores -----------------------------------------------------------------------------

EpisodeStatus = Literal["done", "truncated", "loop", "budget", "malformed", "infra"]
"""How an episode ended. `done`: a final answer. `truncated`: a turn hit its token limit. `loop`: the same call
n times. `budget`: out of turns. `malformed`: neither a call nor a JSON answer. `infra`: our machinery failed."""


class CriterionResult(Record):
    id: str
    passed: bool | None
    """None: unscored (a judge gave no verdict)."""
    detail: str = ""


class Score(Record):
    """Binary reward of section 3.2.1. `reward` None means unscored; it is never counted as 0."""

    reward: float | None = Field(ge=0, le=1)
    results: tuple[CriterionResult, ...] = ()

    @property
    def status(self) -> Literal["passed", "failed", "unscored"]:
        return "unscored" if self.reward is None else "passed" if self.reward == 1 else "failed"


class Trajectory(Record):
    """One episode: an OpenAI-style message list and what it earned."""

    task: str
    environment: str
    policy: str
    seed: int = 0
    messages: tuple[dict[str, Any], ...]
    calls: int
    tool_errors: int = 0
    status: EpisodeStatus
    answer: Json = None
    score: Score = Score(reward=None)
    diff: StateDiff = StateDiff()


class Rate(Record):
    """A pass rate with its 95 % Wilson interval. The denominator is always shown; unscored runs are apart."""

    value: float
    low: float
    high: float
    passed: int
    scored: int
    unscored: int = 0


class ArenaResult(Record):
    stage: str
    """`before sft`, `after sft`, `round 1` …"""
    round: int
    policy: str
    overall: Rate
    by_environment: dict[str, Rate]
    by_type: dict[str, Rate]
    by_strategy: dict[str, Rate]
    by_level: dict[str, Rate]
    statuses: dict[str, int]
    tool_errors: int = 0
    trajectories: str
    """JSONL file of the runs, relative to the workspace."""


# --- Diagnosis ---------------------------------------------------------------------------------------

FailureKind = Literal[
    "wrong_tool", "wrong_order", "wrong_argument", "state_not_tracked", "stopped_early",
    "wrong_answer", "malformed", "unauthorised_write", "loop",
]  # fmt: skip


class Guideline(Record):
    """What tasks to make next (section 3.2.2), as words for people and models and as knobs for the synthesizer."""

    id: str
    text: str
    failure: FailureKind
    operations: tuple[OperationKind, ...] = ()
    strategies: tuple[Literal["graph", "program"], ...] = ()
    levels: tuple[int, ...] = ()
    needs_state_diversity: bool = False


class Weakness(Record):
    environment: str
    rate: Rate
    failures: dict[FailureKind, int]
    guideline: Guideline
    evidence: tuple[str, ...] = ()
    """Task ids whose traces show it."""


class Diagnosis(Record):
    round: int
    weaknesses: tuple[Weakness, ...]
    """Weakest first."""
    origin: Origin
