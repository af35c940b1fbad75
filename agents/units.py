"""Units at the end of column names: `height_in` is a height in inches, `checked_in` is none."""

UNITS = {
    "km": "kilometres", "km2": "square kilometres", "kg": "kilograms", "g": "grams", "mg": "milligrams",
    "cm": "centimetres", "mm": "millimetres", "m": "metres", "usd": "US dollars", "eur": "euros",
    "kcal": "kilocalories",
    "mph": "miles per hour", "kmh": "kilometres per hour", "lb": "pounds", "lbs": "pounds", "ft": "feet",
    "miles": "miles", "thousands": "thousands", "millions": "millions", "in": "inches",
}  # fmt: skip
"""Last words of column names that are units, as they are said."""
MEASURED_IN_INCHES = {
    "height", "width", "length", "depth", "diameter", "thickness", "reach", "wingspan", "snow", "snowfall", "rain",
    "rainfall", "precipitation", "tallest", "shortest", "longest", "widest", "deepest", "size", "waist", "chest",
}  # fmt: skip
"""What comes before an `in` that is no preposition."""


def unit_of(column: str) -> str | None:
    """`kilograms` of `weight_kg`."""
    *head, last = column.split("_")
    unit = bool(head) and last in UNITS and (last != "in" or head[-1] in MEASURED_IN_INCHES)
    return UNITS[last] if unit else None
