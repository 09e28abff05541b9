"""What describing data and coding their columns cost, as ratios in one run: ``python benchmarks/views.py``."""

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd

import jointclust as jc


def seconds(function):
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def cost():
    rng = np.random.RandomState(0)
    big = rng.standard_normal((1_000_000, 100)).astype(np.float32)
    print(f"describe, 1,000,000 x 100: {seconds(lambda: jc.describe(big)):.2f} s")
    numbers = rng.standard_normal((100_000, 20)) + 5 * rng.randint(3, size=(100_000, 1))
    frame = pd.DataFrame(numbers, columns=[f"n{index}" for index in range(20)])
    for index in range(5):
        frame[f"c{index}"] = rng.choice(["red", "green", "blue", "grey"], size=len(frame))
    coded = jc.MixedEncoder().fit(frame).transform(frame)
    coding = seconds(lambda: jc.MixedEncoder().fit(frame).transform(frame))
    fit = seconds(lambda: jc.LDAKMeans(10, n_init=5, random_state=0).fit(coded))
    print(f"coding 100,000 x 25 over an LDAKMeans(n_init=5) fit: {coding / fit:.3f} ({coding:.2f} s, {fit:.2f} s)")


if __name__ == "__main__":
    cost()
