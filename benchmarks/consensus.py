"""CPU seconds of the default beside KMeans(n_init=10), in one run on one thread; the number of clusters is given.

    JOINTCLUST_DATA=folder python benchmarks/consensus.py [--repeats 5] > docs/evidence/consensus.csv

Medians over the repeats, each from another seed. ``PYTHONPATH`` with the sources of another version measures that one.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import time
import warnings

import numpy as np
from sklearn.cluster import KMeans

import jointclust as jc

SETS = ("iris", "wine", "digits", "coil20", "usps")


def seconds(fit, repeats):
    """Median over seeds, after a first call that loads what it needs."""
    spent = []
    for seed in range(-1, repeats):
        began = time.process_time()
        fit(max(seed, 0))
        spent.append(time.process_time() - began)
    return np.median(spent[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore")
    print("data set,rows,columns,clusters,KMeans(n_init=10),default,ratio")
    for name in SETS:
        if name not in jc.datasets.names():
            continue
        data = jc.datasets.load(name)
        X, c = data.data, data.n_classes
        plain = seconds(lambda seed, X=X, c=c: KMeans(c, n_init=10, random_state=seed).fit(X), repeats)
        ours = seconds(lambda seed, X=X, c=c: jc.JointConsensus(c, random_state=seed, n_jobs=1).fit(X), repeats)
        print(f"{name},{X.shape[0]},{X.shape[1]},{c},{plain:.3f},{ours:.3f},{ours / plain:.0f}", flush=True)


if __name__ == "__main__":
    main()
