"""Data that come in batches: a simulated year of customers, batches in which nothing changes, a long stream.

    python -c "from batches import customers; print(customers(month=8)[0])"

The tables that come of them are made by next_month.py.
"""

import numpy as np
import pandas as pd

MONTHS, ROWS = 12, 800
# Of each segment: its share, then visits a month, price of a basket, discount, days since the last visit, sessions in
# the app, returned share, and chances of store, web and app; last that of a member.
SEGMENTS = {
    "loyal": (0.26, 9, 45, 0.08, 4, 12, 0.04, (0.5, 0.3, 0.2), 0.9),
    "bargain": (0.22, 4, 22, 0.45, 12, 20, 0.10, (0.1, 0.6, 0.3), 0.4),
    "families": (0.20, 3, 130, 0.15, 14, 4, 0.06, (0.8, 0.15, 0.05), 0.6),
    "rare": (0.17, 0.7, 40, 0.10, 70, 1, 0.08, (0.4, 0.5, 0.1), 0.1),
    "fashion": (0.15, 5, 85, 0.20, 9, 30, 0.40, (0.1, 0.2, 0.7), 0.5),
    # Splits off from the loyal ones, and comes from outside.
    "loyal, app": (0.0, 11, 30, 0.05, 3, 45, 0.04, (0.02, 0.08, 0.9), 0.9),
    "business": (0.0, 6, 260, 0.02, 6, 8, 0.01, (0.3, 0.69, 0.01), 0.05),
}
# From month 5 on the share of the loyal ones that have split off; from month 8 on the rows of the new segment.
SPLIT = dict(zip(range(5, 13), (0.12, 0.25, 0.40, 0.50, 0.50, 0.50, 0.50, 0.50), strict=True))
NEW = dict(zip(range(8, 13), (30, 70, 110, 140, 140), strict=True))
# Prices rise by this share a month, from month 3 on.
RISE, FIRST_RISE = 0.05, 3
# Standard deviations: of the logarithm of numbers, of shares.
SPREAD, SHARE_SPREAD = 0.35, 0.05


def customers(month=1, seed=0, rows=ROWS):
    """The customers of a month, each another draw, and the segment of each; months 1 and 2 are alike."""
    rng = np.random.default_rng([seed, month])
    names = list(SEGMENTS)
    shares = np.array([SEGMENTS[name][0] for name in names])
    moved = SPLIT.get(month, 0.0) * shares[0]
    shares[0], shares[names.index("loyal, app")] = shares[0] - moved, moved
    shares[-1] = NEW.get(month, 0) / ROWS
    shares[:-1] *= 1 - shares[-1]
    segment = np.array(names)[rng.choice(len(names), rows, p=shares)]
    parts = {name: np.array([SEGMENTS[one][place] for one in segment]) for place, name in enumerate(COLUMNS, 1)}
    channels = np.array([SEGMENTS[one][7] for one in segment])
    prices = parts["basket"] * (1 + RISE) ** max(month - FIRST_RISE + 1, 0)
    table = pd.DataFrame(
        {
            "visits": rng.poisson(_about(rng, parts["visits"])),
            "basket": _about(rng, prices).round(2),
            "discount": (parts["discount"] + SHARE_SPREAD * rng.standard_normal(rows)).clip(0, 1).round(3),
            "days since": _about(rng, parts["days since"]).round(),
            "sessions": rng.poisson(_about(rng, parts["sessions"])),
            "returned": (parts["returned"] + SHARE_SPREAD * rng.standard_normal(rows)).clip(0, 1).round(3),
            "channel": np.array(["store", "web", "app"])[(rng.random((rows, 1)) > channels.cumsum(axis=1)).sum(axis=1)],
            "member": rng.random(rows) < np.array([SEGMENTS[one][8] for one in segment]),
            # Of these no segment knows anything.
            "age": rng.normal(45, 15, rows).clip(18, 95).round(),
            "region": rng.choice(["north", "south", "east", "west"], rows),
        }
    )
    return table, segment


COLUMNS = ("visits", "basket", "discount", "days since", "sessions", "returned")


def _about(rng, means):
    """Numbers about these, by a log-normal law."""
    return means * np.exp(SPREAD * rng.standard_normal(len(means)))


# A long stream of rows: batches of the same separated clusters.
BATCHES, BATCH_ROWS, BATCH_COLUMNS, BATCH_CLUSTERS = 50, 20_000, 20, 6


def stream(batch, seed=0):
    """A batch of the stream: rows and their clusters, whose shares differ by a factor of about four."""
    centers = 3.0 * np.random.default_rng([seed, 0]).standard_normal((BATCH_CLUSTERS, BATCH_COLUMNS))
    shares = np.linspace(1, 4, BATCH_CLUSTERS)
    rng = np.random.default_rng([seed, 1 + batch])
    cluster = rng.choice(BATCH_CLUSTERS, BATCH_ROWS, p=shares / shares.sum())
    return centers[cluster] + rng.standard_normal((BATCH_ROWS, BATCH_COLUMNS)), cluster
