"""What a GPU gives: the ImageNet-size linear probe and a discriminant analysis of 10⁸ rows, beside scikit-learn's.

    python -m benchmarks.gpu                 # both tasks, all contenders, one table
    python -m benchmarks.gpu --small         # a hundredth of the rows: a rehearsal
    python -m benchmarks.gpu --only probe --without scikit-learn

*Probe*: softmax with C = 1 on 1.28e6 × 1024 float32 rows of 1000 classes, to a relative gap of 1e-6, which ours proves
and the others are measured against.  *Rows*: a linear discriminant analysis of 1e8 × 64 float32 rows on the device,
beside the time of reading them once (a sum).  Every time is of one call after a warm one on a slice, with the device
waited for.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ.setdefault("SCIPY_ARRAY_API", "1")


def timed(torch: Any, call: Callable[[], Any]) -> tuple[float, Any]:
    torch.cuda.synchronize()
    start = time.perf_counter()
    result = call()
    torch.cuda.synchronize()
    return time.perf_counter() - start, result


def probe_data(torch: Any, n: int, d: int, K: int, kind: str) -> tuple[Any, Any]:
    """Rows with independent columns and random true weights, or class clusters with a decaying spectrum."""
    g = torch.Generator(device="cuda").manual_seed(0)
    X = torch.randn((n, d), generator=g, device="cuda")
    y = torch.empty(n, dtype=torch.int64, device="cuda")
    W = torch.randn((d, K), generator=g, device="cuda") * (2 / d**0.5)
    means = torch.randn((K, d), generator=g, device="cuda") * 0.1
    spread = torch.arange(1, d + 1, device="cuda") ** -0.5
    spread /= spread.mean()
    turn = torch.linalg.qr(torch.randn((d, d), generator=g, device="cuda"))[0]
    for i in range(0, n, 65_536):
        part = slice(i, min(i + 65_536, n))
        if kind == "independent":
            noise = -torch.log(
                -torch.log(torch.rand((part.stop - i, K), generator=g, device="cuda").clamp_(1e-7, 1 - 1e-7))
            )
            y[part] = (X[part] @ W + noise).argmax(dim=1)
        else:
            y[part] = torch.randint(0, K, (part.stop - i,), generator=g, device="cuda")
            turned = ((X[part] + means[y[part]]) * spread) @ turn
            X[part] = turned.clamp(min=0) + 0.1 * turned
    return X, y


def objective(torch: Any, X: Any, y: Any, coef: Any, intercept: Any) -> float:
    """J = mean loss + ½‖w‖²/n in float64, a block at a time."""
    W, b = coef.double().T, intercept.double()
    total = 0.0
    for i in range(0, len(X), 16_384):
        z = X[i : i + 16_384].double() @ W + b
        total += float(torch.nn.functional.cross_entropy(z, y[i : i + 16_384], reduction="sum"))
    return total / len(X) + 0.5 * float((W * W).sum()) / len(X)


def ours(X: Any, y: Any) -> tuple[Any, Any, str]:
    from discriminant import LogisticRegression

    model = LogisticRegression(tol=1e-6).fit(X, y)
    found = model.certificate_
    return (
        model.coef_,
        model.intercept_,
        f"proved relative gap {found.gap / abs(found.objective):.1e}, {found.passes:g} passes",
    )


def scikit_learn(X: Any, y: Any) -> tuple[Any, Any, str]:
    from sklearn import config_context
    from sklearn.linear_model import LogisticRegression

    with config_context(array_api_dispatch=True):
        model = LogisticRegression(tol=1e-6, max_iter=400).fit(X, y)
    return model.coef_, model.intercept_, f"{int(model.n_iter_[0])} steps"


def probe(torch: Any, n: int, contenders: list[str], kinds: list[str]) -> None:
    methods = {"discriminant": ours, "scikit-learn": scikit_learn}
    for kind in kinds:
        X, y = probe_data(torch, n, 1024, 1000, kind)
        print(f"probe, {kind} columns: {n} x 1024, 1000 classes", flush=True)
        rows = []
        for name in contenders:
            methods[name](X[:20_000], y[:20_000])  # warm: libraries loaded, kernels compiled
            seconds, (coef, intercept, note) = timed(torch, partial(methods[name], X, y))
            coef, intercept = (torch.as_tensor(a, device="cuda") for a in (coef, intercept))
            rows.append((name, seconds, objective(torch, X, y, coef, intercept), note))
            print(f"  {name:14s} {seconds:8.2f} s   J {rows[-1][2]:.9f}   {note}", flush=True)
        best = min(row[2] for row in rows)
        for name, seconds, J, note in rows:
            print(f"  {name:14s} {seconds:8.2f} s   (J - best)/best {(J - best) / best:.1e}   {note}", flush=True)


def rows(torch: Any, n: int) -> None:
    from discriminant import LinearDiscriminantAnalysis

    g = torch.Generator(device="cuda").manual_seed(1)
    X = torch.empty((n, 64), device="cuda")
    y = torch.randint(0, 3, (n,), generator=g, device="cuda")
    means = torch.randn((3, 64), generator=g, device="cuda")
    for i in range(0, n, 1 << 22):
        part = slice(i, min(i + (1 << 22), n))
        X[part] = torch.randn((part.stop - i, 64), generator=g, device="cuda") + means[y[part]]
    for _ in range(3):  # libraries loaded, the kernel compiled
        LinearDiscriminantAnalysis().fit(X[:1_000_000], y[:1_000_000])
    read = sorted(timed(torch, X.sum)[0] for _ in range(9))[4]
    fits = sorted(timed(torch, lambda: LinearDiscriminantAnalysis().fit(X, y))[0] for _ in range(9))
    print(
        f"discriminant analysis, {n} x 64: read once {read * 1e3:.2f} ms, fit {fits[4] * 1e3:.2f} ms "
        f"(best {fits[0] * 1e3:.2f}), ratio {fits[4] / read:.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", choices=["probe", "rows"])
    parser.add_argument("--kinds", default="independent,correlated")
    parser.add_argument("--without", default="")
    given = parser.parse_args()
    with contextlib.suppress(ImportError):
        import torch

        if torch.cuda.is_available():
            print(torch.cuda.get_device_name(), "torch", torch.__version__, flush=True)
            share = 100 if given.small else 1
            contenders = [name for name in ("discriminant", "scikit-learn") if name not in given.without]
            if given.only != "probe":
                rows(torch, 100_000_000 // share)
            if given.only != "rows":
                probe(torch, 1_280_000 // share, contenders, given.kinds.split(","))
            return
    print("torch with a CUDA device is needed; there is none here.")


if __name__ == "__main__":
    main()
