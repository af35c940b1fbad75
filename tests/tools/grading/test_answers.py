import pytest

from agent_world.tools.grading import parse_answer, text_variants


@pytest.mark.parametrize(
    "text",
    [
        '{"n": 3}',
        '  {"n": 3}\n',
        '```json\n{"n": 3}\n```',
        '```\n{"n": 3}\n```',
        'It is:\n```json\n{"n": 3}\n```\nDone.',
    ],
)
def test_one_object_bare_or_fenced_is_the_answer(text: str) -> None:
    assert parse_answer(text) == {"n": 3}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        "[3]",
        "null",
        'The answer is {"n": 3}.',
        '{"n": 3} {"n": 4}',
        '```json\n{"n": 3}\n```\n```json\n{"n": 4}\n```',
        '{"n": NaN}',
        '{"n": Infinity}',
        '{"n": 1e999}',
        '{"n": 3, "n": 4}',
        "{'n': 3}",
        '{"n": 3,}',
        '{"n": ' * 100_000,
        '{"n": ' + "9" * 5000 + "}",
    ],
)
def test_anything_else_is_none(text: str) -> None:
    assert parse_answer(text) is None


def test_every_way_to_state_an_answer_reads_back() -> None:
    answer = {"name": "Brontë ```", "n": 3, "list": [1.5, None, True]}
    assert [parse_answer(text) for text in text_variants(answer)] == [answer] * 4
