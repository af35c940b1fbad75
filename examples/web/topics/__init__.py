"""All topics of the site, by field."""

from agent_world.examples.web.topics import america, cars, culture, economy, food, nature, places, sport, travel

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
)
