from agent_world.schema import ForeignKey
from agent_world.tools.tables import DataTable, broken, find_links, foreign_keys

AIRPORTS = DataTable(
    "airports",
    ("faa", "name", "altitude"),
    ("string", "string", "integer"),
    (("EWR", "Newark", 18), ("JFK", "Kennedy", 13), ("LGA", "LaGuardia", 22), ("BOS", "Logan", 19)),
    key="faa",
    label="name",
)
FLIGHTS = DataTable(
    "flights",
    ("id", "origin", "dest", "minutes"),
    ("integer", "string", "string", "integer"),
    ((1, "EWR", "BOS", 13), (2, "JFK", "BOS", 18), (3, "LGA", "JFK", 22), (4, "EWR", None, 19)),
    key="id",
)


def test_text_that_all_occurs_in_a_key_is_a_reference_whatever_its_name() -> None:
    links = find_links([AIRPORTS, FLIGHTS])
    assert [(k.table, k.column, k.other, k.target) for k in links] == [("flights", "origin", "airports", "faa")]


def test_numbers_that_happen_to_occur_are_no_reference() -> None:
    assert all(link.column != "minutes" for link in find_links([AIRPORTS, FLIGHTS]))


def test_a_reference_by_name_may_miss_some_rows() -> None:
    planes = DataTable("planes", ("tailnum", "seats"), ("string", "integer"), (("N1", 2), ("N2", 4)), key="tailnum")
    flown = DataTable("flights", ("id", "tailnum"), ("integer", "string"), ((1, "N1"), (2, "N2"), (3, "N9")), key="id")
    (link,) = find_links([planes, flown])
    assert link.shared < 1
    assert broken(flown, foreign_keys("flights", [link])[0], planes) == ["N9"]


def test_two_tables_never_refer_to_each_other_in_a_circle() -> None:
    one = DataTable(
        "stations", ("name", "line"), ("string", "string"), (("a", "x"), ("b", "y"), ("c", "z")), key="name"
    )
    two = DataTable(
        "lines", ("line", "station"), ("string", "string"), (("x", "a"), ("y", "b"), ("z", "c")), key="line"
    )
    assert len(find_links([one, two])) == 1


def test_null_is_no_broken_reference() -> None:
    assert broken(FLIGHTS, ForeignKey(column="dest", table="airports", target="faa"), AIRPORTS) == []


def test_a_count_named_as_the_table_it_counts_is_no_reference() -> None:
    courses = DataTable(
        "courses",
        ("course_id", "professor_id"),
        ("integer", "integer"),
        tuple((n, n % 3) for n in range(9)),
        key="course_id",
    )
    counted = DataTable(
        "professors", ("professor_id", "courses"), ("integer", "integer"), ((0, 3), (1, 4), (2, 2)), key="professor_id"
    )
    links = find_links([courses, counted])
    assert [(k.table, k.column, k.other) for k in links] == [("courses", "professor_id", "professors")]
