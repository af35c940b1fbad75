"""Settings of a run: a YAML file, then `key=value` overrides. The paper's numbers are the defaults.

Every key is checked; a wrong one ends in a `UsageError` that names it and the nearest right one.
"""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BaseModel, BeforeValidator, Field, SecretStr, ValidationError, model_validator

from agent_world.errors import UsageError
from agent_world.schema import Engine, Record

Role = Literal["miner", "coder", "synthesizer", "validator", "diagnoser", "taxonomist"]


class ModelConfig(Record):
    """A chat model by LangChain's `init_chat_model`; any OpenAI-compatible server by `base_url`, so vLLM too."""

    name: str
    """`provider:model`, for example `openai:gpt-5` or, with `base_url`, `openai:Qwen/Qwen3-8B`."""
    base_url: str | None = None
    api_key: SecretStr | None = None
    """Left out, the provider's own environment variable is read."""
    temperature: float = 0.0
    timeout_s: float = 120.0
    retries: int = 3
    input_price: float | None = None
    """Dollars for a million tokens read; left out, what the model costs is not told."""
    output_price: float | None = None
    """The same for tokens written."""

    def dollars(self, read: int, written: int) -> float | None:
        """What so many tokens cost; None where the prices are not known."""
        if self.input_price is None or self.output_price is None:
            return None
        return round((read * self.input_price + written * self.output_price) / 1e6, 4)


class RoleConfig(Record):
    """Who decides in a role: our algorithms (`procedural`), or a chat model (`llm`)."""

    engine: Engine = "procedural"
    model: ModelConfig | None = None

    @model_validator(mode="after")
    def _llm_needs_a_model(self) -> "RoleConfig":
        if self.engine == "llm" and self.model is None:
            raise ValueError("engine llm needs a model: set model.name (provider:model)")
        return self


class McpThemeSource(Record):
    """A live MCP server, asked for its tools: a command (stdio) or an address (streamable HTTP; where its path ends in
    `/sse`, server-sent events)."""

    kind: Literal["mcp"] = "mcp"
    command: tuple[str, ...] = ()
    """Program and arguments; `{python}` is this interpreter."""
    address: str | None = None
    headers: dict[str, str] = {}
    """Sent to an address with every request: `Authorization: Bearer ${TOKEN}`, where `${TOKEN}` is read from the
    environment when the server is asked."""
    name: str
    description: str = ""

    @model_validator(mode="after")
    def _one_way_to_it(self) -> "McpThemeSource":
        if bool(self.command) == bool(self.address):
            raise ValueError("give a command or an address, one of the two")
        if self.headers and not self.address:
            raise ValueError("headers go with an address; a command reads its keys from the environment")
        return self


class ServersThemeSource(Record):
    """A list of MCP servers, a theme each: the official registry's JSON, Smithery's, or a crawl (JSON, JSON Lines)."""

    kind: Literal["servers"] = "servers"
    path: str
    """A file (.json, .jsonl, either with .gz), or an http(s) address, of which all pages are read."""
    limit: int | None = None
    """Most servers read."""


class ToolDocsThemeSource(Record):
    """Tool documentation: OpenAI functions or an MCP `tools/list` (a bare list, or under `functions` or `tools`, with
    name and description beside it), OpenAPI (JSON or YAML), or a data set of tools as JSON Lines, which is mapped back
    to the services that the tools belong to."""

    kind: Literal["tool_docs"] = "tool_docs"
    path: Path
    name: str | None = None
    """Of the theme; left out, what the document says, else the file's own name."""


class PrdThemeSource(Record):
    """A product requirement document in Markdown, plain text, HTML or PDF: its first heading names the theme."""

    kind: Literal["prd"] = "prd"
    path: Path
    name: str | None = None
    """Of the theme; left out, the first heading."""


ThemeSource = Annotated[
    McpThemeSource | ServersThemeSource | ToolDocsThemeSource | PrdThemeSource, Field(discriminator="kind")
]


class ThemeSettings(Record):
    """When two themes are one, and what is no theme at all."""

    same_meaning: float = Field(default=0.9, ge=0, le=1)
    """Cosine of name and description from which two themes are the same."""
    similar_meaning: float = Field(default=0.6, ge=0, le=1)
    """The same for two themes that share most of their tools."""
    same_tools: float = Field(default=0.6, ge=0, le=1)
    """Share of common tool names (Jaccard) that is most of them."""
    least_words: int = 4
    """Words of description below which a theme without tools is dropped."""


class SiteSearch(Record):
    """A site's own search: an address with `{query}`, answering JSON `{"results": [{title, address, snippet}]}`."""

    kind: Literal["site"] = "site"
    address: str = "http://127.0.0.1:8737/search?q={query}&format=json"


class _SearchService(Record):
    timeout_s: float = Field(default=20.0, gt=0)
    """Of one attempt."""
    retries: int = Field(default=3, ge=0)
    """Further attempts where the service limits the rate or is down for a moment."""


class TavilySearch(_SearchService):
    kind: Literal["tavily"] = "tavily"
    api_key: SecretStr | None = None
    """Left out, TAVILY_API_KEY is read."""
    base_url: str = "https://api.tavily.com"
    depth: Literal["basic", "advanced"] = "basic"


class BraveSearch(_SearchService):
    kind: Literal["brave"] = "brave"
    api_key: SecretStr | None = None
    """Left out, BRAVE_API_KEY is read."""
    base_url: str = "https://api.search.brave.com"


class SearxngSearch(_SearchService):
    """An instance of SearXNG whose settings allow the format `json`."""

    kind: Literal["searxng"] = "searxng"
    base_url: str
    language: str | None = None


class DuckDuckGoSearch(_SearchService):
    """DuckDuckGo's page without scripts, by the package `ddgs`; no key."""

    kind: Literal["duckduckgo"] = "duckduckgo"
    region: str = "us-en"
    proxy: str | None = None
    ca_file: Path | None = None
    """Certificates to trust instead of the usual ones, PEM; for a proxy that opens TLS."""


def _site_by_address(value: object) -> object:
    """A bare address is a site's own search, as it was before there were others."""
    return {"kind": "site", "address": value} if isinstance(value, str) else value


SearchConfig = Annotated[
    SiteSearch | TavilySearch | BraveSearch | SearxngSearch | DuckDuckGoSearch,
    Field(discriminator="kind"),
    BeforeValidator(_site_by_address),
]


class WebSettings(Record):
    """The web that the miner sees."""

    serve_examples: bool = False
    """Start the offline web of `examples/` for the run."""
    host: str = "127.0.0.1"
    port: int = 8737
    search: SearchConfig = SiteSearch()
    """What answers queries; an address alone is a site's own search."""
    allow_private: bool = False
    """Allow loopback, private and link-local addresses. Off: such addresses are refused."""
    browser: Path | None = None
    """Executable; left out, Playwright's own Chromium, else the system's."""
    page_timeout_s: float = 15.0
    max_bytes: int = 5_000_000
    delay_s: float | None = Field(default=None, ge=0)
    """Pause between two pages or files of one host; left out, a second, and none where its address is private. A longer
    one in robots.txt is kept. What a page's scripts ask for comes after a tenth of it, 0.1 s at most."""
    more_steps: int = Field(default=10, ge=0)
    """How often a page's "Load more" is pressed, or its end scrolled to, while that brings rows."""
    recycle_pages: int = Field(default=200, ge=1)
    """Pages after which the browser is started afresh, so that its memory stays flat."""


class MiningSettings(Record):
    queries: int = 4
    pages: int = 12
    """Most pages opened for a theme."""
    listing_pages: int = 5
    """Most pages followed in one pagination."""
    turns: int = 24
    """Most turns of a chat model's research."""
    record_pages: int = 60
    """Most pages read of one family: linked beside each other, each with an infobox or the like about one thing."""
    meaning: bool = True
    """Rank what to read by embeddings too, not by words alone."""
    min_tables: int = 1
    min_rows: int = 20
    max_rows: int = 200
    """Most rows kept in one table."""
    max_tables: int = 4


class ComplexifySettings(Record):
    rounds: int = 2
    pages: int = 2
    """Further pages that each round reads, where the first reading left any worth it; listings of the database's own
    tables first, which `mining.listing_pages` had cut short."""
    notes: bool = False
    """Each round also leaves a Markdown note on some of the rows, for tools that read and search text; one table of the
    agent's own work is a Markdown file too."""


class ToolSettings(Record):
    """Section 3.1: a tool is kept when it compiles and more than `keep_above` of its tests pass."""

    max_tools: int = 24
    keep_above: float = 0.5
    repairs: int = 2


class TaxonomySettings(Record):
    clusters: int = 50
    types: int = 20


class TaskSettings(Record):
    graph: int = 12
    """Graph-based tasks wanted from an environment."""
    program: int = 6
    tries: int = 6
    """Candidates a wanted task, at most."""
    level_shares: dict[int, float] = {1: 0.14, 2: 0.15, 3: 0.17, 4: 0.25, 5: 0.29}
    """Relative shares of the levels among what is proposed; a level without one is proposed only where it is asked for
    by name."""
    max_answer_chars: int = 400
    attempts: int = 5
    """ReAct attempts a task where a model is set; kept at `keep_at` consistent passes."""
    keep_at: int = 2


Rung = Literal["own_uid", "user_namespace", "confined", "limits"]
"""How well the kernel lets us isolate, best first; `tools.sandbox.inside.jail` says what holds on each."""


class LocalRuntime(Record):
    """Isolated processes on this machine."""

    kind: Literal["local"] = "local"
    call_timeout_s: float = 5.0
    run_timeout_s: float = 20.0
    memory_mb: int = 512
    """Most memory of one instance."""
    total_memory_mb: int | None = None
    """Most memory of all instances together; half of the machine's when left out."""
    disk_mb: int = 64
    max_instances: int = 64
    ahead: int = Field(default=2, ge=0)
    """Instances of an environment in use that are started before they are asked for."""
    share_from_mb: float = Field(default=1.0, ge=0)
    """Databases from this size on are not copied: instances share them, and keep what they change."""
    floor: Rung = "confined"
    """The weakest isolation under which tools may run; below it, the start is refused."""
    observation_chars: int = 4000
    clock: str = "2026-01-15T09:00:00"
    """The time that tools see, UTC."""


class E2BRuntime(Record):
    """Sandboxes of E2B, in its cloud or self-hosted."""

    kind: Literal["e2b"] = "e2b"
    api_key: SecretStr | None = None
    """Left out, E2B_API_KEY is read."""
    domain: str | None = None
    """Of a self-hosted E2B; left out, E2B_DOMAIN, else the cloud."""
    api_url: str | None = None
    """Of a self-hosted E2B whose API is not at `https://api.<domain>`; left out, E2B_API_URL."""
    sandbox_url: str | None = None
    """Of a self-hosted E2B whose sandboxes all answer at one address; left out, E2B_SANDBOX_URL."""
    template: str | None = None
    """Of sandboxes; left out, that of E2B's code interpreter. Linux with bash and Python 3.11 or newer."""
    lifetime_s: int = 3600
    """E2B itself ends a sandbox so long after its last use, also when nobody is left who could."""
    start_timeout_s: float = 60.0
    call_timeout_s: float = 30.0
    run_timeout_s: float = 60.0
    memory_mb: int = 512
    disk_mb: int = 64
    max_instances: int = 20
    observation_chars: int = 4000
    clock: str = "2026-01-15T09:00:00"


class McpRuntime(Record):
    """An MCP server an instance, started inside the local sandbox on a private copy of its data."""

    kind: Literal["mcp"] = "mcp"
    command: tuple[str, ...] = Field(min_length=1)
    """Program and arguments; `{python}` is this interpreter, `{data}` the instance's folder."""
    env: dict[str, str] = {}
    readable: tuple[Path, ...] = ()
    """What the server may read beside the system's libraries, this Python, and the files and npm packages that its
    command names by their full path."""
    start_timeout_s: float = 30.0
    call_timeout_s: float = 30.0
    run_timeout_s: float = 60.0
    memory_mb: int = 1024
    total_memory_mb: int | None = None
    disk_mb: int = 64
    max_instances: int = 16
    floor: Rung = "confined"
    observation_chars: int = 4000
    clock: str = "2026-01-15T09:00:00"
    """The time that programs see, UTC; the server sees the machine's."""


RuntimeConfig = Annotated[LocalRuntime | E2BRuntime | McpRuntime, Field(discriminator="kind")]


class LocalExecutor(Record):
    """Units of work run in this process, `concurrency` at once."""

    kind: Literal["local"] = "local"


class RayExecutor(Record):
    """Units of work run as tasks of Ray, `concurrency` at once; needs the extra `ray`.

    Every node must have this package, and the workspace under the same path. Keys of services are read where a task
    runs, so they are in the settings or in the nodes' environment.
    """

    kind: Literal["ray"] = "ray"
    address: str | None = None
    """Of a running cluster: `host:6379`, `ray://host:10001`, or `auto`. Left out, Ray is started on this machine."""
    cpus: float = Field(default=1.0, gt=0)
    """Reserved for one unit."""


def _by_kind(value: object) -> object:
    return {"kind": value} if isinstance(value, str) else value


ExecutorConfig = Annotated[LocalExecutor | RayExecutor, Field(discriminator="kind"), BeforeValidator(_by_kind)]
"""`executor: ray` is short for `executor: {kind: ray}`."""


class LocalIndex(Record):
    """Chroma's files in the workspace, open in one process at a time."""

    kind: Literal["local"] = "local"


class ServerIndex(Record):
    """A Chroma server (`chroma run`), as many workspaces to it as you like."""

    kind: Literal["server"] = "server"
    address: str = "http://127.0.0.1:8000"
    token: SecretStr | None = None
    """Sent as `x-chroma-token`."""
    tenant: str = "default_tenant"
    database: str = "default_database"
    name: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{2,200}$")
    """Of this workspace's collections; left out, one that no other workspace has."""


IndexConfig = Annotated[LocalIndex | ServerIndex, Field(discriminator="kind"), BeforeValidator(_by_kind)]


class TinyPolicy(Record):
    """A Qwen3-architecture model built in code, with its own tokenizer: for CPUs, no download."""

    kind: Literal["tiny"] = "tiny"
    layers: int = 4
    hidden: int = 128
    heads: int = 4
    head_size: int = 64
    feed_forward: int = 256
    vocabulary: int = 2048
    threads: int = 2


class CheckpointPolicy(Record):
    """A Transformers checkpoint by path or hub name."""

    kind: Literal["checkpoint"] = "checkpoint"
    model: str
    dtype: str = "auto"


class ChatPolicy(Record):
    """A chat model behind an API: it can be evaluated and diagnosed, not trained."""

    kind: Literal["chat"] = "chat"
    model: ModelConfig


PolicyConfig = Annotated[TinyPolicy | CheckpointPolicy | ChatPolicy, Field(discriminator="kind")]


class SFTSettings(Record):
    steps: int = 600
    batch: int = 8
    learning_rate: float = 1e-3
    decay: float = Field(default=0.4, ge=0, le=1)
    """Share of the steps, at the end, over which the learning rate falls to a tenth."""
    max_tokens: int = 768
    save_steps: int = 200
    trajectories: int = 4000
    """Oracle conversations wanted (section 3.2.1 uses 40K of a strong model)."""
    max_calls: int | None = None
    """Most tool calls of a conversation; any number when left out."""
    rename: float = Field(default=0.8, ge=0, le=1)
    """Share of conversations in which names and numbers are exchanged consistently; for the tiny policy alone."""


class GRPOSettings(Record):
    """Section 3.2.1: 32 tasks x 8 rollouts, temperature 1, top-p 1, clip 0.2 / 0.28, KL to the reference."""

    steps: int = 20
    tasks_per_step: int = 32
    rollouts: int = 8
    learning_rate: float = 1e-6
    temperature: float = 1.0
    top_p: float = 1.0
    epsilon: float = 0.2
    epsilon_high: float = 0.28
    beta: float = 0.001
    turn_tokens: int = 32_000
    max_tokens: int = 80_000
    max_calls: int = 40
    levels: tuple[int, ...] = ()
    """Only tasks of these levels; all when empty."""
    save_steps: int = 10


class ArenaSettings(Record):
    """Section 3.2.2: K environments from each first-tier type, held out of training."""

    environments_per_type: int = 5
    max_share: float = 0.34
    """At most this share of all environments is held out."""
    graph: int = 6
    """Graph-based tasks of a held-out environment in the fixed measuring set."""
    program: int = 3
    fresh_graph: int = 2
    """Fresh tasks an environment and round, for the diagnosis; 0 diagnoses from the fixed set alone."""
    fresh_program: int = 1
    max_turns: int = 12
    turn_tokens: int = 96
    batch: int = 64


class GrowthSettings(Record):
    """What a round of evolution makes where the policy is weak (section 3.2.2)."""

    weaknesses: int = 3
    """Weak environments acted upon, weakest first."""
    environments: int = 4
    """Training environments that get targeted tasks."""
    graph: int = 6
    program: int = 3
    grown: int = 1
    """Training environments whose database is complexified into a new bundle where state diversity lacks."""


class Settings(Record):
    workspace: Path
    seed: int = 0
    concurrency: int = Field(default=2, ge=1)
    """Units (themes, environments) worked on at once."""
    executor: ExecutorConfig = LocalExecutor()
    """What runs them."""
    rounds: int = 2
    """Evolution rounds: diagnose, target, train, measure again."""
    roles: dict[Role, RoleConfig] = {}
    themes: tuple[ThemeSource, ...] = ()
    theme_rules: ThemeSettings = ThemeSettings()
    web: WebSettings = WebSettings()
    mining: MiningSettings = MiningSettings()
    complexify: ComplexifySettings = ComplexifySettings()
    tools: ToolSettings = ToolSettings()
    taxonomy: TaxonomySettings = TaxonomySettings()
    tasks: TaskSettings = TaskSettings()
    runtime: RuntimeConfig = LocalRuntime()
    policy: PolicyConfig = TinyPolicy()
    sft: SFTSettings = SFTSettings()
    grpo: GRPOSettings = GRPOSettings()
    arena: ArenaSettings = ArenaSettings()
    growth: GrowthSettings = GrowthSettings()
    index: IndexConfig = LocalIndex()
    """Where `agent-world search` keeps its vectors."""

    def role(self, name: Role) -> RoleConfig:
        return self.roles.get(name, RoleConfig())


def load_settings(path: Path, overrides: Sequence[str] = ()) -> Settings:
    """Read `path`, apply `a.b=value` overrides (values are YAML), and check everything.

    Relative paths of theme sources are taken from the file's own folder, the workspace from the working
    directory. Raises `UsageError`.
    """
    try:
        raw = yaml.safe_load(path.read_text())
    except FileNotFoundError as error:
        raise UsageError(
            f"There is no configuration {path}; name one by --config, or start in a checkout, where configs/ lies."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"Cannot read the configuration {path}: {error}.") from error
    except yaml.YAMLError as error:
        raise UsageError(f"{path} is not YAML: {' '.join(str(error).split())}.") from error
    if not isinstance(raw, dict):
        raise UsageError(f"{path} must hold a mapping of settings, not {type(raw).__name__}.")
    for item in overrides:
        _override(raw, item)
    try:
        settings = Settings.model_validate(raw)
    except ValidationError as error:
        raise UsageError(f"{path}: {_explain(error)}") from error
    return settings.model_copy(update={"themes": tuple(_beside(path, source) for source in settings.themes)})


def _beside(path: Path, source: ThemeSource) -> ThemeSource:
    if isinstance(source, McpThemeSource):
        return source
    if isinstance(source, ServersThemeSource):
        remote = source.path.startswith(("http://", "https://"))
        return source if remote else source.model_copy(update={"path": str((path.parent / source.path).resolve())})
    return source.model_copy(update={"path": (path.parent / source.path).resolve()})


def _override(raw: dict[str, Any], item: str) -> None:
    key, sign, text = item.partition("=")
    if not sign:
        raise UsageError(f"Override {item!r} must have the form key=value, for example rounds=1.")
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"The value of override {item!r} is not YAML.") from error
    *parents, last = key.split(".")
    for parent in parents:
        raw = raw.setdefault(parent, {})
        if not isinstance(raw, dict):
            raise UsageError(f"Override {key!r}: {parent!r} is not a section of settings.")
    raw[last] = value


def _explain(error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(first["loc"][-1]), _names(Settings), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "; remove it."
        return f"unknown setting {key!r}{hint}"
    if first["type"] == "missing":
        return f"setting {key!r} is missing; add it."
    return f"setting {key!r}: {first['msg']} (got {first.get('input')!r})."


def _names(model: type[BaseModel]) -> set[str]:
    names: set[str] = set()
    for name, field in model.model_fields.items():
        names.add(name)
        for inner in (field.annotation, *get_args(field.annotation)):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                names |= _names(inner)
    return names
