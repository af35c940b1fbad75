"""All topics of the site, by field."""

from agent_world.examples.web.topics import (
    america,
    cars,
    culture,
    economy,
    food,
    history,
    nature,
    outdoors,
    places,
    registers,
    science,
    services,
    sport,
    travel,
    work,
)

TOPICS = (
    *travel.TOPICS,
    *places.TOPICS,
    *america.TOPICS,
    *nature.TOPICS,
    *food.TOPICS,
    *cars.TOPICS,
    *sport.TOPICS,
    *culture.TOPICS,
    *economy.TOPICS,
    *history.TOPICS,
    *outdoors.TOPICS,
    *science.TOPICS,
    *services.TOPICS,
    *work.TOPICS,
    *registers.TOPICS,
)
