"""The fits of ``federated.py`` with the rows on Ray or on Spark: ``python examples/clusters.py ray`` (or ``spark``).

A partition is a ``Site``; a request goes to each, sums come back and are added here in the order of the partitions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from federated import Ask, Site, fit_lda, fit_logistic


@contextmanager
def on_ray(sites: list[Site]) -> Any:
    """Partitions in Ray's object store."""
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    held = [ray.put(site) for site in sites]

    @ray.remote
    def run(function: Callable[[Site], Any], site: Site) -> Any:
        return function(site)

    try:
        yield lambda function: ray.get([run.remote(function, site) for site in held])
    finally:
        ray.shutdown()


@contextmanager
def on_spark(sites: list[Site]) -> Any:
    """Partitions of a Spark RDD."""
    from pyspark import SparkConf, SparkContext

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    context = SparkContext(conf=SparkConf().setMaster("local[2]").setAll(list(quiet.items())))
    context.addPyFile(str(Path(__file__).with_name("federated.py")))
    held = context.parallelize(sites, len(sites)).cache()
    try:
        yield lambda function: held.map(function).collect()
    finally:
        context.stop()


CLUSTERS: dict[str, Callable[[list[Site]], AbstractContextManager[Ask]]] = {"ray": on_ray, "spark": on_spark}


def main(name: str) -> None:
    """Four partitions of penguins, three classes."""
    from discriminant import LinearDiscriminantAnalysis, LogisticRegression, datasets

    penguins = datasets.load("penguins")
    X, y = penguins.X, penguins.y
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    classes = sorted(set(y.tolist()))
    parts = np.array_split(np.random.default_rng(0).permutation(len(y)), 4)
    with CLUSTERS[name]([Site(X[part], y[part], classes) for part in parts]) as ask:
        lda, A = fit_lda(ask), fit_logistic(ask, X.shape[1], len(classes))
    pooled, plain = LinearDiscriminantAnalysis().fit(X, y), LogisticRegression().fit(X, y)
    print(f"linear discriminants: weights differ by {np.abs(lda.coef_ - pooled.coef_).max():.1e}")
    print(f"logistic regression: weights differ by {np.abs(A[1:].T - plain.coef_).max():.1e}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "ray")
