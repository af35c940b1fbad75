"""An awkward database on purpose: gaps, Unicode, Booleans, tables without a name column, all three formats."""

import csv
import io
import json
import sqlite3
from pathlib import Path
from typing import Any

from agent_world.memory.store import Bundle, write_text
from agent_world.schema import Column, DatabaseSchema, Environment, ForeignKey, Origin, Table, Theme, ToolSpec

CITIES = [
    # code, name, country, population, coastal, mayor
    ("zrh", "Zürich", "CH", 421878, False, "Corine"),
    ("kat", "Kraków", "PL", 804237, False, None),
    ("spb", "São Paulo", "BR", 11451245, False, "Ricardo"),
    ("osa", "大阪", "JP", 2752412, True, None),
    ("ath", "Αθήνα", "GR", 643452, True, "Haris"),
    ("str", "Straße \"am\" Meer, Nord", "DE", 1200, True, "Ida"),
    ("nul", "O'Higgins\\Villa", "CL", None, None, "Núñez"),
    ("lon", "London", "GB", 8866180, False, "Sadiq"),
    ("por", "Porto", "PT", 231800, True, "Rui"),
    ("bra", "Braga", "PT", 193349, False, "Ricardo"),
    ("lis", "Lisboa", "PT", 545796, True, "Carlos"),
    ("gen", "Genève", "CH", 203856, False, None),
]  # fmt: skip
READINGS = [
    # id, city, year, temperature, sensor, ok
    *((n, CITIES[n % 9][0], 2010 + n % 5, round(-4.5 + 1.37 * n, 2) if n % 6 else None, f"s-{n % 3}", n % 4 != 1)
      for n in range(1, 41)),
]  # fmt: skip
LIMITS = [
    # number, limit, offset, city
    *((f"L{n:02}", n * 5, -n / 4, CITIES[n % 4][0] if n % 5 else None) for n in range(1, 25)),
]


def awkward_schema() -> DatabaseSchema:
    cities = Table(
        name="cities", file="cities.csv", format="csv", rows=len(CITIES), primary_key="code", label="name",
        columns=(
            Column(name="code", type="string", unique=True), Column(name="name", type="string", unique=True),
            Column(name="country", type="string"), Column(name="population", type="integer", nullable=True),
            Column(name="coastal", type="boolean", nullable=True), Column(name="mayor", type="string", nullable=True),
        ),
    )  # fmt: skip
    readings = Table(
        name="temperature_readings", file="readings.sqlite", format="sqlite", rows=len(READINGS), primary_key="id",
        columns=(
            Column(name="id", type="integer", unique=True), Column(name="city_code", type="string"),
            Column(name="year", type="integer"), Column(name="temperature", type="number", nullable=True),
            Column(name="sensor", type="string", values=("s-0", "s-1", "s-2")), Column(name="ok", type="boolean"),
        ),
        foreign_keys=(ForeignKey(column="city_code", table="cities", target="code"),),
    )  # fmt: skip
    limits = Table(
        name="limits", file="limits.json", format="json", rows=len(LIMITS), primary_key="number",
        columns=(
            Column(name="number", type="string", unique=True), Column(name="limit", type="integer", unique=True),
            Column(name="offset", type="number", unique=True), Column(name="city", type="string", nullable=True),
        ),
        foreign_keys=(ForeignKey(column="city", table="cities", target="code"),),
    )  # fmt: skip
    return DatabaseSchema(tables=(cities, limits, readings))


def make_awkward(root: Path, tools: tuple[ToolSpec, ...] = ()) -> Bundle:
    """Write it as the mined bundle `root`, without tools; `tools` are those of the theme's real service."""
    bundle = Bundle(root)
    write_text(bundle.database / "cities.csv", _csv(awkward_schema().table("cities"), CITIES))
    names = [column.name for column in awkward_schema().table("limits").columns]
    rows = [dict(zip(names, row, strict=True)) for row in LIMITS]
    write_text(bundle.database / "limits.json", json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    connection = sqlite3.connect(bundle.database / "readings.sqlite")
    with connection:
        connection.execute(
            "CREATE TABLE temperature_readings (id INTEGER PRIMARY KEY, city_code TEXT, year INTEGER, temperature REAL,"
            " sensor TEXT, ok BOOLEAN)"
        )
        connection.executemany("INSERT INTO temperature_readings VALUES (?, ?, ?, ?, ?, ?)", READINGS)
    connection.close()
    theme = Theme(
        id="weather", name="City weather", description="Cities.", kind="tool_docs", source="tests", tools=tools
    )
    bundle.write_environment(
        Environment(
            id=bundle.id, name="City \"weather\"", description="Cities and what their sensors read.", theme=theme,
            database=awkward_schema(), origin=Origin(engine="procedural"),
        )
    )  # fmt: skip
    return bundle


def _csv(table: Table, rows: list[Any]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([column.name for column in table.columns])
    for row in rows:
        writer.writerow(["" if v is None else str(v).lower() if isinstance(v, bool) else v for v in row])
    return text.getvalue()
