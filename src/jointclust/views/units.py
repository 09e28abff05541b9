"""The unit of a column of numbers: what fit saw beside them, and the numbers of new rows in that unit."""

from __future__ import annotations

import numpy as np

from jointclust.types import Float

# Beside the signs of per cent and of currencies: what is true or false, and numbers of which none was but 0 and 1.
PLAIN, PERCENT, TRUTH, BINARY = "", "%", "true or false", "0 or 1"
# Standard deviations from the mean of fit within which the middle one of the new numbers has to lie.
_NEAR = 5.0
# Plain numbers of this size are no shares: more than 200%.
_NO_SHARES = 2.0


def in_unit(values: Float, now: str, then: str, name: str, usual: tuple[float, float] | None = None) -> Float:
    """Numbers of a column in the unit of fit; an error that names the column where it is not sure how they convert.

    ``now`` and ``then`` are the units of the numbers and of the fit, per cents being hundredths; ``usual`` are mean and
    spread in the fit. Between per cents and plain numbers the unit is sure if only one of "the number means per cents"
    and "the number means shares" gives numbers like those of the fit.
    """
    plain = now in (PLAIN, BINARY), then in (PLAIN, BINARY)
    present = values[~np.isnan(values)]
    if now == then or all(plain) or present.size == 0 or (now == TRUTH and then == BINARY):
        return values
    if then == TRUTH and plain[0]:
        others = present[~np.isin(present, (0.0, 1.0))]
        if others.size == 0:
            return values
        raise ValueError(f"Column {name!r} held what is true or false, and holds {others[0]:g}: write it as 1 or 0.")
    if any(plain) and PERCENT not in (now, then) and TRUTH not in (now, then):
        return values  # a currency that is left out, or added, changes no number
    if any(plain) and TRUTH not in (now, then) and usual is not None:
        factors = _possible(present, now, usual)
        if len(factors) == 1:
            return values * factors[0]
    raise ValueError(
        f"Column {name!r} holds {_in_words(now)}, and held {_in_words(then)} in the fit: write it as it was there, or "
        "fit again."
    )


def _possible(present: Float, now: str, usual: tuple[float, float]) -> list[float]:
    """What numbers may have to be multiplied by, so that they are like those of the fit."""
    mean, spread = usual
    # Per cents are hundredths: the fit held shares, as they are, or per cents without a sign.
    factors = [1.0, 100.0] if now == PERCENT else [1.0, 0.01]
    if now == PERCENT and np.hypot(mean, spread) > _NO_SHARES:
        factors = [100.0]
    return [factor for factor in factors if abs(factor * np.median(present) - mean) <= _NEAR * spread]


def _in_words(unit: str) -> str:
    numbers = {PLAIN: "plain numbers", BINARY: "0 and 1", PERCENT: "per cents", TRUTH: "what is true or false"}
    return numbers.get(unit, f"amounts in {unit}")
