"""Tables of the kind that people have at work, drawn at random, with clusters planted in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from jointclust.readers import Columns

Seed = int | np.random.RandomState | None
Planted = tuple[Columns, NDArray[np.int64]]


def customers(n_samples: int, rng: np.random.RandomState) -> Planted:
    """Five segments of customers in seven numbers and two categories; names, cities and dates say nothing of them."""
    y = rng.choice(5, n_samples, p=[0.3, 0.25, 0.2, 0.17, 0.08])

    def of(*values: float) -> NDArray[np.float64]:
        return np.array(values, dtype=float)[y]

    city = rng.choice(["Graz", "Linz", "Bern", "Geneva", "Turin", "Como"], n_samples)
    country = {"Graz": "AT", "Linz": "AT", "Bern": "CH", "Geneva": "CH", "Turin": "IT", "Como": "IT"}
    elsewhere = np.where(rng.rand(n_samples) < 0.7, "web", "shop")
    table: dict[str, Any] = {
        "customer": [f"C{7 * row + 1000:06d}" for row in range(n_samples)],
        "age": np.clip(rng.normal(of(25, 37, 46, 62, 51), 6), 18, 95).round(),
        "income": (of(21e3, 45e3, 80e3, 30e3, 150e3) * np.exp(rng.normal(0, 0.2, n_samples))).round(-2),
        "orders": rng.poisson(of(13, 6, 9, 3, 20)),
        "basket": (of(30, 70, 110, 40, 350) * np.exp(rng.normal(0, 0.25, n_samples))).round(2),
        "days_since": rng.gamma(4, of(12, 55, 30, 190, 10) / 4).round(),
        "discount": np.clip(rng.normal(of(0.4, 0.2, 0.1, 0.3, 0.02), 0.08), 0, 1).round(2),
        "tickets": rng.poisson(of(1.0, 3.0, 0.6, 0.5, 5.0)),
        "channel": np.where(rng.rand(n_samples) < of(0.8, 0.45, 0.3, 0.1, 0.2), "app", elsewhere),
        "newsletter": np.where(rng.rand(n_samples) < of(0.7, 0.5, 0.4, 0.2, 0.8), "yes", "no"),
        "city": city,
        "country": [country[name] for name in city],
        "since": np.datetime64("2019-01-01") + rng.randint(0, 2000, n_samples).astype("timedelta64[D]"),
    }
    return _with_gaps(table, {"income": 0.1, "age": 0.05, "channel": 0.04}, rng), y


def survey(n_samples: int, rng: np.random.RandomState) -> Planted:
    """Four kinds of answers to twelve questions, from 1 (no) to 5 (yes), with gaps; region and age say nothing."""
    subjects = ("price", "quality", "green", "digital")
    questions = {
        "price": ("I compare prices", "I wait for sales", "I know what I spent last month"),
        "quality": ("I pay more for what lasts", "I read reviews", "Brands matter to me"),
        "green": ("I look at the origin", "I repair things", "I avoid packaging"),
        "digital": ("I order online", "I use the app", "I pay by phone"),
    }
    opinions = np.array([[4.6, 2.2, 2.4, 3.0], [2.0, 4.5, 3.1, 4.4], [3.1, 3.9, 4.7, 2.2], [2.6, 2.5, 1.9, 2.0]])
    y = rng.choice(4, n_samples, p=[0.35, 0.25, 0.22, 0.18])
    person = rng.normal(0, 0.35, n_samples)  # some people agree with everything
    table: dict[str, Any] = {"respondent": [f"R{row + 1:04d}" for row in range(n_samples)]}
    for subject, opinion in zip(subjects, opinions.T, strict=True):
        for question in questions[subject]:
            table[question] = np.clip((opinion[y] + person + rng.normal(0, 0.8, n_samples)).round(), 1, 5)
    table["region"] = rng.choice(["north", "east", "south", "west"], n_samples)
    table["age group"] = rng.choice(["18-29", "30-44", "45-59", "60+"], n_samples)
    gap_shares = {question: 0.06 for subject in subjects for question in questions[subject]}
    return _with_gaps(table, gap_shares, rng), y


# What a message is made of: a subject's things and what is wrong with them, and words that all messages share.
_SUBJECTS = (
    (
        "invoice payment refund amount card bank account billing charge receipt",
        "charged paid declined debited refunded",
    ),
    (
        "parcel delivery shipment courier tracking driver address door package depot",
        "arrived delayed delivered lost sent",
    ),
    ("password login account code email reset attempt access user name", "locked forgotten refused expired changed"),
    ("shoes jacket size shirt colour sleeve trousers exchange return label", "torn returned exchanged worn small"),
    (
        "app update screen error version phone tablet button crash notification",
        "crashed frozen installed updated closed",
    ),
)
_SHARED = (
    "hello please help again since yesterday my your is was not twice week Monday order customer number called team "
    "thanks urgent problem answer still waiting tried nothing new last time today"
)


def tickets(n_samples: int, rng: np.random.RandomState) -> Planted:
    """Messages to a help desk about five subjects: a number, a day, a priority that says nothing, and the text."""
    y = rng.choice(5, n_samples, p=[0.26, 0.24, 0.2, 0.17, 0.13])
    days = np.datetime64("2026-01-01") + rng.randint(0, 240, n_samples).astype("timedelta64[D]")
    subjects = [[part.split() for part in parts] for parts in _SUBJECTS]

    def sentence(things: list[str], troubles: list[str]) -> str:
        shared = rng.choice(_SHARED.split(), rng.randint(4, 8)).tolist()
        words = [
            *shared[:2],
            "the",
            rng.choice(things),
            rng.choice(things),
            *shared[2:4],
            rng.choice(troubles),
            *shared[4:],
        ]
        return " ".join(words).capitalize() + "."

    table: dict[str, Any] = {
        "ticket": [f"T{row + 1:05d}" for row in range(n_samples)],
        "day": days,
        "priority": rng.choice(["low", "normal", "high"], n_samples, p=[0.3, 0.5, 0.2]),
        "text": [" ".join(sentence(*subjects[subject]) for _ in range(rng.randint(2, 5))) for subject in y],
    }
    return _with_gaps(table, {}, rng), y


def daily_curves(n_samples: int, rng: np.random.RandomState) -> Planted:
    """Use of electricity over a day, every half hour: households, offices and bakeries, each a little early or late."""
    y = rng.choice(3, n_samples, p=[0.5, 0.3, 0.2])
    hours = np.arange(48) / 2
    bumps = (((7, 1.2, 0.7), (19.5, 2.2, 1.4)), ((10, 2.0, 1.1), (15, 2.4, 1.0)), ((3.5, 1.6, 1.6), (8, 1.5, 0.5)))
    late, height = rng.normal(0, 0.5, n_samples), np.exp(rng.normal(0, 0.25, n_samples))
    curves = np.array(
        [
            sum(tall * np.exp(-0.5 * ((hours - late[row] - place) / wide) ** 2) for place, wide, tall in bumps[y[row]])
            for row in range(n_samples)
        ]
    ).reshape(n_samples, hours.size)
    use = 0.3 + height[:, None] * curves + rng.normal(0, 0.12, curves.shape)
    table: dict[str, Any] = {"meter": [f"M{row + 1:04d}" for row in range(n_samples)]}
    table |= {
        f"{int(hour):02d}:{int(hour % 1 * 60):02d}": column.round(3) for hour, column in zip(hours, use.T, strict=True)
    }
    return _with_gaps(table, {}, rng), y


def _with_gaps(table: dict[str, Any], shares: dict[str, float], rng: np.random.RandomState) -> Columns:
    """The columns as arrays, with a share of the cells of some of them left empty."""
    columns = {}
    for name, values in table.items():
        column = np.asarray(values)
        if column.dtype.kind == "U":
            column = column.astype(object)
        if name in shares:
            column[rng.rand(column.size) < shares[name]] = None if column.dtype == object else np.nan
        columns[name] = column
    return Columns(columns)


# Each with its usual number of rows.
TABLES: dict[str, tuple[Callable[[int, np.random.RandomState], Planted], int]] = {
    "customers": (customers, 1500),
    "survey": (survey, 700),
    "tickets": (tickets, 800),
    "daily_curves": (daily_curves, 600),
}


def everyday(name: str, n_samples: int | None = None, *, random_state: Seed = None) -> tuple[Any, NDArray[np.int64]]:
    """A table of the kind that people have at work, with clusters planted in it.

    Parameters
    ----------
    name : {"customers", "survey", "tickets", "daily_curves"}
        Five segments of customers (numbers, categories, gaps, columns that say nothing); four kinds of answers to a
        survey; messages to a help desk about five subjects; use of electricity over a day, of three kinds.
    n_samples : int, default=None
        Number of rows; None is 1500, 700, 800 and 600.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    table : data frame of shape (n_samples, n_columns)
        The columns, the first of which names the rows. Without pandas, a mapping of names to arrays.
    y : array of shape (n_samples,)
        The planted cluster of each row.

    Examples
    --------
    >>> import jointclust as jc
    >>> table, segments = jc.datasets.everyday("customers", 300, random_state=0)
    >>> table.shape
    (300, 13)
    """
    if name not in TABLES:
        raise ValueError(f"name={name!r} is no everyday table: there are {', '.join(TABLES)}.")
    draw, usual = TABLES[name]
    table, y = draw(usual if n_samples is None else n_samples, check_random_state(random_state))
    try:
        return table.to_pandas(), y
    except ImportError:
        return table, y
