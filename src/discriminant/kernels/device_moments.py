"""One pass over rows on a GPU that takes their Gram matrix and class sums at the speed of memory (CUDA).

Each float32, in a unit of its column, is cut into two of 11 bits, x = h + l, which the matrix units multiply exactly:

    RᵗR ≈ hᵗh + hᵗl + lᵗh,     sums = (h + l)ᵗ M        (what is left out is below 2⁻²² of a product)

``device_moments.cu`` holds the kernel and says how; torch compiles it for the shape at hand, once in a process.  It
leaves the sums of each chunk of rows, which are added here in float64, in a fixed order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from discriminant.protocols import Array

LEAST_CAPABILITY = (8, 0)  # of the GPU: asynchronous copies, products of 16 × 8 × 16
CLASSES = 16
COLUMNS = 64
GROUP = 256  # rows that the matrix units add
LONGEST_CHUNK = 131_072  # rows that are added in float32: of the groups' sums, a thousand
WARPS, STAGES = 8, 2
UNIT_STEPS = 2.0**6  # the unit of a column lies this far below its largest value: small values keep their digits


def here(torch: Any, device: Any) -> bool:
    """Whether torch can compile for this device."""
    return hasattr(torch.cuda, "_compile_kernel") and torch.cuda.get_device_capability(device) >= LEAST_CAPABILITY


@dataclass(frozen=True)
class Fused:
    """The kernel for d columns and K classes, compiled, and where each of its sums belongs."""

    launch: Callable[..., Any]
    programs: int  # warps at work at the same time
    width: int  # floats that a chunk leaves
    gram: Array  # (d, d) where in them each entry of the Gram matrix lies
    sums: Array  # (K, d) and each entry of the class sums


@functools.cache
def compiled(d: int, n_classes: int, shifted: bool, device: int) -> Fused | None:
    """None where this version of torch cannot compile it, or the device has too little shared memory."""
    import torch

    tiles, class_tiles = (4 if d <= 32 else 8), (1 if n_classes <= 8 else 2)
    gram, sums = _layout(tiles, class_tiles)
    kept = 64 * tiles * (tiles // 2 + 1 + class_tiles)  # accumulators of a warp
    properties = torch.cuda.get_device_properties(device)
    own = 4 * (STAGES * (16 * (8 * tiles + 8) + 32) + kept)
    warps = min(WARPS, int(properties.shared_memory_per_block_optin) // own)
    given = {"D": d, "CLASSES": n_classes, "TILES": tiles, "CLASS_TILES": class_tiles, "SHIFTED": int(shifted)}
    given |= {"WARPS": warps, "STAGES": STAGES, "GROUP": GROUP}
    header = "".join(f"#define {name} {value}\n" for name, value in given.items())
    text = files("discriminant.kernels").joinpath("device_moments.cu").read_text("utf-8")
    try:
        kernel: Any = torch.cuda._compile_kernel(header + text, "moments")
        kernel.set_shared_memory_config(warps * own)
    except (RuntimeError, OSError, AttributeError):
        return None
    blocks = int(properties.multi_processor_count)
    launch = functools.partial(kernel, grid=(blocks, 1, 1), block=(32 * warps, 1, 1), shared_mem=warps * own)
    return Fused(launch, blocks * warps, kept + CLASSES, gram[:d, :d], sums[:n_classes, :d])


def _layout(tiles: int, class_tiles: int) -> tuple[Array, Array]:
    """Where in what a chunk leaves the entries of the Gram matrix (d, d) and of the class sums (16, d) lie.

    Tile by tile, lane by lane, the four accumulators of a lane; see the fragments of mma.m16n8k16.
    """
    lane, e = np.arange(32)[:, None], np.arange(4)
    g, t = lane >> 2, lane & 3

    def column(j: Array | int, place: Array) -> Array:
        return np.broadcast_to(32 * (j // 4) + 4 * place + j % 4, (32, 4))

    width, place = 8 * tiles, 0
    gram, sums = np.zeros((width, width), dtype=np.intp), np.zeros((CLASSES, width), dtype=np.intp)
    within = 4 * lane + e
    for i in range(tiles // 2):
        for j in range(2 * i, tiles):
            one, other = column(2 * i + e // 2, g), column(j, 2 * t + e % 2)
            gram[one, other] = gram[other, one] = place + within
            place += 128
    for k in range(class_tiles):
        for i in range(tiles // 2):
            sums[np.broadcast_to(8 * k + 2 * t + e % 2, (32, 4)), column(2 * i + e // 2, g)] = place + within
            place += 128
    return np.where(np.tri(width, dtype=bool), gram.T, gram), sums  # some tiles lie on both sides of the diagonal


def moments(X: Any, codes: Any, shift: Array | None, most: Array, n_classes: int) -> tuple[Array, Array, Array] | None:
    """(gram (d, d), class sums (K, d), class counts (K,)) in float64, of float32 rows with class codes below 16.

    ``most`` (d,): about the largest value in each column; beyond a thousand times that, the result is not finite.
    None where the kernel cannot be compiled.
    """
    import torch

    n, d = X.shape
    kernel = compiled(d, n_classes, shift is not None, X.device.index or 0)
    if kernel is None:
        return None
    unit = np.exp2(np.ceil(np.log2(most))) / UNIT_STEPS
    pair = np.concatenate([(1 / unit)[None], np.zeros((0, d)) if shift is None else shift]).astype(np.float32)
    with torch.cuda.device(X.device):
        small = torch.from_numpy(pair).to(X.device)
        chunks = kernel.programs * -(-n // (kernel.programs * LONGEST_CHUNK))
        chunk = -(-n // (16 * chunks)) * 16
        out = torch.empty((-(-n // chunk), kernel.width), dtype=torch.float32, device=X.device)
        kernel.launch(args=[X, codes, small[1:] if shift is not None else small, small, out, n, chunk])
        total = out.sum(dim=0, dtype=torch.float64).cpu().numpy()
    G = total[kernel.gram] * unit * unit[:, None]
    return G, total[kernel.sums] * unit, total[-CLASSES:][:n_classes]
