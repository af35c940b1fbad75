"""Where themes came from: `theme_sources.jsonl` of a workspace, a line a theme.

Themes themselves hold neither paths nor times, so that the same sources make the same bundles anywhere.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from agent_world.agents.themes.rules import distinct
from agent_world.memory.store import read_records, write_records
from agent_world.schema import Record, Theme
from agent_world.settings import McpThemeSource, ThemeSource

THEMES = "themes.jsonl"
FILE = "theme_sources.jsonl"


class ThemeOrigin(Record):
    theme: str
    source: str
    """The theme's own word for it: a file's name, an address, a command; an entry of a list."""
    place: str
    """Full path, address or command."""
    sha256: str
    """Of the file; of what was told of the theme where it was no file."""
    read: str
    """When it was first read as it is, UTC."""


Places = dict[tuple[str, str], str]
"""Path, address or command of a theme, by its source and sha256."""


def is_live(source: ThemeSource) -> bool:
    """Whether it is a server or an address, which may be away for a while."""
    return isinstance(source, McpThemeSource) or str(source.path).startswith(("http://", "https://"))


def place_of(source: ThemeSource) -> str:
    if isinstance(source, McpThemeSource):
        return source.address or " ".join(source.command)
    return str(source.path)


def signed(themes: Iterable[Theme], source: ThemeSource) -> list[Theme]:
    """Themes of one source with the sha256 of what they were read from."""
    path = Path(place_of(source))
    file = None if isinstance(source, McpThemeSource) or not path.is_file() else _hash(path.read_bytes())
    return [theme.model_copy(update={"sha256": file or _hash(_told(theme))}) for theme in themes]


def keep_themes(workspace: Path, themes: Sequence[Theme], places: Places) -> None:
    """Write `themes.jsonl` and where they came from."""
    write_records(workspace / THEMES, themes)
    write_origins(workspace, places, themes)


def join_themes(workspace: Path, themes: Sequence[Theme], place: str) -> list[Theme]:
    """Themes of one more source beside those that the workspace knows, so that they are found at once; a next run reads
    all sources anew. Returns those of the source, with ids of their own."""
    known = read_records(workspace / THEMES, Theme)
    here = {(theme.name, theme.source) for theme in themes}
    others = [theme for theme in known if (theme.name, theme.source) not in here]
    joined = distinct([*others, *themes])
    keep_themes(workspace, sorted(joined, key=lambda theme: theme.id), {(t.source, t.sha256): place for t in themes})
    return joined[len(others) :]


def recall_themes(workspace: Path, place: str) -> list[Theme]:
    """What the workspace knows from this place."""
    ids = {origin.theme for origin in read_records(workspace / FILE, ThemeOrigin) if origin.place == place}
    return [theme for theme in read_records(workspace / THEMES, Theme) if theme.id in ids]


def write_origins(workspace: Path, places: Places, themes: Sequence[Theme]) -> None:
    """Note `themes`, whose place is known by source and sha256; a time that was noted before stays."""
    path = workspace / FILE
    before = {(known.theme, known.source, known.sha256): known for known in read_records(path, ThemeOrigin)}
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = []
    for theme in themes:
        place = places.get((theme.source, theme.sha256), "")
        new = ThemeOrigin(theme=theme.id, source=theme.source, place=place, sha256=theme.sha256, read=now)
        known = before.get((theme.id, theme.source, theme.sha256), new)
        found.append(known.model_copy(update={"place": place or known.place}))
    write_records(path, found)


def _told(theme: Theme) -> bytes:
    return json.dumps(theme.model_dump(mode="json", by_alias=True, exclude={"sha256"}), sort_keys=True).encode()


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
