"""DEC on a GPU: against the same fit on the CPU beside it, against plain k-means, and against the products it needs.

Run on a machine with CUDA: ``python benchmarks/gpu.py [--rows 2000000] [--columns 768] [--clusters 100]``.

``python benchmarks/gpu.py --same [--device cpu]`` compares the default on real data (in the folder that JOINTCLUST_DATA
names) on a device with the default in memory, in float32 and float64: the adjusted Rand index of the two partitions. On
the CPU it does so with torch tensors, and needs no GPU. ``--default`` takes the time of the default on generated rows,
``--dec`` the median of ten fits of DEC.
"""

import argparse
import os
import time
from functools import partial

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score

import jointclust as jc


def mixture(n, d, c, device, seed=0):
    """Clusters in a subspace of 32 dimensions, beside nuisance directions of more variance, float32."""
    generator = torch.Generator(device).manual_seed(seed)
    normal = lambda *shape: torch.randn(*shape, generator=generator, device=device)  # noqa: E731
    labels = torch.randint(c, (n,), generator=generator, device=device)
    inside = 4 * normal(c, 32)[labels] + normal(n, 32)
    nuisance = 6 * normal(n, 16)
    axes = torch.linalg.qr(normal(d, 48))[0].T
    X = torch.cat([inside, nuisance], dim=1) @ axes
    X += normal(n, d)
    return X, labels


def plain_kmeans(X, c, iterations, seed=0):
    """Lloyd in the full space, in torch: distances and sums by matrix products."""
    generator = torch.Generator(X.device).manual_seed(seed)
    centers = X[torch.randperm(len(X), generator=generator, device=X.device)[:c]]
    for _ in range(iterations):
        sums, sizes = torch.zeros_like(centers), torch.zeros(c, device=X.device)
        for block in X.split(2**18):
            labels = (block @ centers.T - 0.5 * (centers**2).sum(1)).argmax(1)
            sums.index_add_(0, labels, block)
            sizes += torch.bincount(labels, minlength=c)
        centers = sums / sizes.clamp(min=1)[:, None]
    return centers


def timed(function):
    torch.cuda.synchronize()
    began = time.perf_counter()
    result = function()
    torch.cuda.synchronize()
    return time.perf_counter() - began, result


SAME = ("isolet5", "usps", "digits", "coil20", "newsgroups20_minilm", "satellite")


def same(device, names=SAME):
    """How alike the partitions of rows in memory and on a device are."""
    print(f"{'':20} {'rows':>6} {'float32':>8} {'float64':>8}   accuracy in memory, on the device (float32)")
    for name in names:
        loaded = jc.datasets.load(name)
        k, line, accuracies = len(np.unique(loaded.target)), [], []
        for dtype in (np.float32, np.float64):
            X = np.asarray(loaded.data, dtype=dtype)
            host, there = (jc.cluster(rows, k, random_state=0) for rows in (X, torch.tensor(X, device=device)))
            pair = host.labels_, there.labels_.cpu().numpy()
            line.append(adjusted_rand_score(*pair))
            accuracies.append([jc.metrics.clustering_accuracy(loaded.target, labels) for labels in pair])
        text = "  ".join(f"{value:.3f}" for value in accuracies[0])
        print(f"{name:20} {len(X):6} {line[0]:8.4f} {line[1]:8.4f}   {text}", flush=True)


def default():
    """Seconds and memory of the default on generated rows: many clusters, many rows, and without the number."""
    print(f"{'':44} {'seconds':>8} {'GiB beside the rows':>20} {'accuracy':>9}  number")
    for n, d, c, given, trust in (
        (1_000_000, 768, 1_000, True, True),
        (2_000_000, 768, 100, True, False),
        (1_000_000, 128, 20, False, True),
    ):
        X, labels = mixture(n, d, c, "cuda")
        fit = partial(jc.JointConsensus(c, trust=trust, random_state=0).fit, X)
        fit = fit if given else partial(jc.cluster, X, random_state=0)
        for _ in range(2):
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            beside = torch.cuda.memory_allocated()
            seconds, model = timed(fit)
            peak = (torch.cuda.max_memory_allocated() - beside) / 2**30
            accuracy = jc.metrics.clustering_accuracy(labels.cpu().numpy(), model.labels_.cpu().numpy())
            text = f"{n} x {d}, {c} clusters, {'given' if given else 'found'}{'' if trust else ', no trust'}"
            print(f"{text:44} {seconds:8.1f} {peak:20.2f} {accuracy:9.3f}  {model.n_clusters}", flush=True)
            del model
        del X, labels


def dec(n, d, c, repeats=10):
    """The median of several fits of DEC."""
    X, _ = mixture(n, d, c, "cuda")
    model = jc.DiscriminativeEmbeddedClustering(c, random_state=0)
    timed(lambda: model.fit(X[:50_000]))
    seconds = [timed(lambda: model.fit(X))[0] for _ in range(repeats)]
    ends = f"{min(seconds):.3f} to {max(seconds):.3f}"
    print(f"DEC of {n} x {d}, {c} clusters: median of {repeats} {np.median(seconds):.3f} s, {ends}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=768)
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--cpu", action="store_true", help="also fit on the CPU")
    parser.add_argument("--same", action="store_true", help="compare the default on the device with that in memory")
    parser.add_argument("--default", action="store_true", help="seconds and memory of the default")
    parser.add_argument("--dec", action="store_true", help="only DEC, the median of ten fits")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    if options.same:
        same(options.device)
        return
    if options.default:
        default()
        return
    n, d, c = options.rows, options.columns, options.clusters
    if options.dec:
        dec(n, d, c)
        return
    X, labels = mixture(n, d, c, "cuda")
    model = jc.DiscriminativeEmbeddedClustering(c, random_state=0)
    timed(lambda: model.fit(X[:50_000]))  # libraries wake up
    seconds, model = min((timed(lambda: model.fit(X)) for _ in range(3)), key=lambda pair: pair[0])
    accuracy = jc.metrics.clustering_accuracy(labels.cpu().numpy(), model.labels_.cpu().numpy())
    print(f"device: {torch.cuda.get_device_name()}, {os.cpu_count()} CPU cores; {n} x {d} float32, {c} clusters")
    print(f"DEC on the GPU: {seconds:.2f} s, {model.n_iter_} iterations, accuracy {accuracy:.3f}")
    flops = 2 * n * d * d, (model.n_iter_ + 2) * 2 * n * d * (c - 1) + model.n_iter_ * 2 * n * d * c
    print(f"products it cannot do without: {flops[0] / 1e12:.2f} TFLOP in float64, {flops[1] / 1e12:.2f} in float32")
    iterations = 50
    plain, _ = timed(lambda: plain_kmeans(X, c, iterations))
    print(f"plain torch k-means in the full space, one start, {iterations} iterations: {plain:.2f} s")
    for dtype in (torch.float32, torch.float64):
        a = torch.randn(8192, 8192, device="cuda", dtype=dtype)
        a @ a
        rate = 2 * 8192**3 * 10 / timed(lambda a=a: [a @ a for _ in range(10)])[0]
        print(f"matrix products in {dtype}: {rate / 1e12:.1f} TFLOP/s")
    print(f"peak GPU memory beyond X: {(torch.cuda.max_memory_allocated() - X.nbytes) / 2**30:.1f} GiB")
    if options.cpu:
        host = X.cpu().numpy()
        began = time.perf_counter()
        other = jc.DiscriminativeEmbeddedClustering(c, random_state=0).fit(host)
        cpu = time.perf_counter() - began
        accuracy = jc.metrics.clustering_accuracy(labels.cpu().numpy(), other.labels_)
        print(f"DEC on the CPU: {cpu:.1f} s, {other.n_iter_} iterations, accuracy {accuracy:.3f}")
        print(f"the GPU is {cpu / seconds:.1f} times faster")


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
