import json
from pathlib import Path

import pytest
import yaml

from agent_world.agents.model import LangChainModel, open_model
from agent_world.agents.taxonomist import build_taxonomy
from agent_world.agents.taxonomist.cluster import sizes, ward
from agent_world.agents.taxonomist.labels import LlmLabeller
from agent_world.agents.taxonomist.taxonomy import read_taxonomy
from agent_world.errors import UsageError
from agent_world.settings import Role, RoleConfig, Settings, TaxonomySettings
from tests.openai_server import Fault, Reply, scripted_openai

ITEMS = [
    ("flights", "Flight departures, airlines and aircraft"), ("airports", "Airports and their codes"),
    ("pizza", "Pizza orders of a restaurant"), ("menus", "Restaurant menus and calories"),
    ("cereal", "Breakfast cereals and calories"), ("storms", "Hurricanes and storms"),
    ("quakes", "Earthquakes and their magnitude"), ("weather", "Storms, wind and weather"),
]  # fmt: skip
VECTORS = [[1, 0, 0], [0.9, 0.1, 0], [0, 1, 0], [0, 0.9, 0.1], [0, 0.8, 0.1], [0, 0, 1], [0.1, 0, 0.9], [0, 0.1, 0.95]]


def settings(workspace: Path, **more: object) -> Settings:
    return Settings.model_validate({"workspace": workspace, **more})


def test_few_items_get_few_groups_and_many_the_papers() -> None:
    assert sizes(8, TaxonomySettings()) == (2, 4)
    assert sizes(3, TaxonomySettings()) == (2, 2)
    assert sizes(1978, TaxonomySettings()) == (20, 50)


def test_clusters_nest_in_types() -> None:
    places = ward(VECTORS, 2, 4)
    assert len({kind for kind, _ in places}) == 2
    by_cluster: dict[int, set[int]] = {}
    for kind, cluster in places:
        by_cluster.setdefault(cluster, set()).add(kind)
    assert all(len(kinds) == 1 for kinds in by_cluster.values())
    assert ward([[1.0, 2.0]], 1, 1) == [(0, 0)]


async def test_alike_items_share_a_place_that_their_words_name(tmp_path: Path) -> None:
    places = await build_taxonomy(ITEMS, VECTORS, settings(tmp_path, taxonomy={"types": 3, "clusters": 3}))
    assert set(places) == {item for item, _ in ITEMS}
    assert places["flights"][1] == places["airports"][1]
    assert places["storms"][1] == places["weather"][1]
    assert places["pizza"][1] != places["flights"][1]
    assert "storm" in places["storms"][1].lower()


async def test_what_people_wrote_into_the_file_stays(tmp_path: Path) -> None:
    first = await build_taxonomy(ITEMS[:6], VECTORS[:6], settings(tmp_path))
    path = tmp_path / "taxonomy.yaml"
    edited = path.read_text().replace(first["storms"][0], "Natural hazards")
    path.write_text(edited)
    again = await build_taxonomy(ITEMS, VECTORS, settings(tmp_path))
    assert again["storms"] == ("Natural hazards", first["storms"][1])
    assert again["weather"] == again["quakes"] == again["storms"]
    assert yaml.safe_load(path.read_text())["types"]["Natural hazards"]


async def test_comments_in_the_file_stay_when_new_items_come(tmp_path: Path) -> None:
    await build_taxonomy(ITEMS[:6], VECTORS[:6], settings(tmp_path))
    path = tmp_path / "taxonomy.yaml"
    path.write_text(path.read_text().replace("- storms", "- storms  # after the Atlantic ones"))
    again = await build_taxonomy(ITEMS, VECTORS, settings(tmp_path))
    assert "- storms  # after the Atlantic ones\n    - quakes\n    - weather\n" in path.read_text()
    assert read_taxonomy(path).places() == again

    flow = "types: {Air: {Flights: [flights, airports]}}  # mine\n"
    path.write_text(flow)
    again = await build_taxonomy(ITEMS[:2], VECTORS[:2], settings(tmp_path))
    assert path.read_text() == flow
    again = await build_taxonomy(ITEMS, VECTORS, settings(tmp_path))
    assert read_taxonomy(path).places() == again == {item: ("Air", "Flights") for item, _ in ITEMS}


async def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "taxonomy.yaml").write_text("types: [1, 2]")
    with pytest.raises(UsageError, match=r"taxonomy\.yaml is no taxonomy"):
        await build_taxonomy(ITEMS, VECTORS, settings(tmp_path))


class Models:
    def __init__(self, model: LangChainModel) -> None:
        self.only = model
        self.notes: list[str] = []

    def note(self, line: str) -> None:
        self.notes.append(line)

    def model(self, role: Role) -> LangChainModel:
        assert role == "taxonomist"
        return self.only


async def test_a_model_names_the_groups(tmp_path: Path) -> None:
    async with scripted_openai(
        ['{"label": "Travel"}', '{"label": "Food"}', '{"label": "Travel"}', '{"label": "Food"}']
    ) as s:
        config = settings(
            tmp_path,
            taxonomy={"types": 2, "clusters": 2},
            roles={"taxonomist": RoleConfig(engine="llm", model=s.config)},
        )
        places = await build_taxonomy(ITEMS[:4], VECTORS[:4], config, Models(open_model(s.config)))
    assert places["flights"] == ("Travel", "Travel")
    assert places["menus"] == ("Food", "Food")


BAD: list[Reply] = [
    '{"label": "Trav', {"name": "no_such_tool", "arguments": {}}, "", "I cannot help with that.", Fault(429),
    Fault(500), Fault(cut=True),
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD, ids=["malformed", "unknown tool", "empty", "refusal", "429", "500", "cut"])
async def test_words_name_the_groups_where_the_model_fails(tmp_path: Path, bad: Reply) -> None:
    async with scripted_openai(['{"label": "Travel"}', bad], repeat=True) as server:
        model = server.config.model_copy(update={"retries": 1})
        roles = {"taxonomist": RoleConfig(engine="llm", model=model)}
        models = Models(open_model(model))
        places = await build_taxonomy(ITEMS, VECTORS, settings(tmp_path / "llm", roles=roles), models)
    assert places == await build_taxonomy(ITEMS, VECTORS, settings(tmp_path / "words"))
    assert models.notes[0].endswith("Telling words name the groups.")


async def test_a_label_is_one_short_line(tmp_path: Path) -> None:
    async with scripted_openai([json.dumps({"label": "A\n" * 500})], repeat=True) as server:
        named = await LlmLabeller(open_model(server.config)).labels({0: ["x"], 1: ["y"]})
    assert all(len(label) <= 62 and "\n" not in label for label in named.values())
    assert len(set(named.values())) == 2
