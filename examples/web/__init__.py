"""An offline web on loopback: public data sets taken at run time from PyPI packages, for the demo and the tests.

Run it by `python -m agent_world.examples.web --port 8737`, or within a program by `async with serve(host, port)`.
`/` lists the topics, `/<topic>` a topic's data sets, `/<topic>/<data set>` shows one: as an HTML table of 50 rows a
page (`rel=next`), a table filled by a script, or a CSV, JSON or XLSX download. `/search?q=` answers with HTML, and
with JSON by `&format=json`. Tables of a topic share keys. Topics by module of `topics/`:

- travel: flights, nordic-airports, airport-weather, paris-metro
- places: countries, languages, cities
- america: south-american-regions, us-states
- nature: atlantic-storms, earthquakes, mammal-sleep, penguins, desert-survey
- food: fast-food, coffee-house, cereals, pizza-place
- cars: fuel-economy, car-prices, sports-cars
- sport: basketball, baseball, baseball-seasons
- culture: star-wars, films, oscars, baking-contest, song-charts, journals
- economy: texas-housing, stock-prices, population-health
- registers: seattle-pets, processors, bolshie-goroda (listings that go on in other ways, files behind plain addresses)

Rows are real: tables select, join or group rows of the packages. The one invented text is a reader's note on
/coffee-house/products, which tries to give orders to whoever reads it; it is there to show that none are taken.
"""

from agent_world.examples.web.server import serve

__all__ = ["serve"]
