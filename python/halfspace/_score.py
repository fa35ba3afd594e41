"""Scores in the order of the command's floating-point operations, for a few rows: no process is started for them."""

from __future__ import annotations

import numpy as np

LANES = 32
MOST = 1 << 17  # products for which this is faster than to start the command


def scores(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the inner products of rows and weights, the same bits as the kernels of the command.

    docs/numerics.md has the order: lane[i mod 32] ← fma(x[i], w[i], lane[i mod 32]) for ascending i, then a fold.

    Parameters
    ----------
    X : array of float32, shape (rows, features)
    weights : array of float32, shape (vectors, features)

    Returns
    -------
    array of float32, shape (rows, vectors)
    """
    lanes = np.zeros((len(X), len(weights), LANES), dtype=np.float32)
    for first in range(0, X.shape[1], LANES):
        x, w = X[:, None, first:first + LANES], weights[None, :, first:first + LANES]
        lanes[..., :x.shape[2]] = fma(x, w, lanes[..., :x.shape[2]])
    half = LANES // 2
    while half > 0:
        lanes = lanes[..., :half] + lanes[..., half:]
        half //= 2
    return lanes[..., 0]


def fma(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return x·y + z in float32, rounded once.

    The product is exact in float64. The sum is rounded to odd there, so that the second rounding, to float32, is the
    rounding of the exact sum (Boldo and Melquiond 2008).
    """
    product, z = x.astype(np.float64) * y.astype(np.float64), z.astype(np.float64)
    total = product + z
    back = total - product
    lost = (product - (total - back)) + (z - back)  # the error of the sum (Knuth's TwoSum)
    bits = total.view(np.int64)
    even = (lost != 0) & (bits & 1 == 0) & np.isfinite(total)
    bits += np.where(even, np.where((lost > 0) == (total > 0), 1, -1), 0)
    with np.errstate(over="ignore"):
        return total.astype(np.float32)
