#!/usr/bin/env python3
"""Rounding errors of Winograd's algorithm by the points at which it evaluates, as docs/design/0004-winograd.md has them.

    results/accuracy/winograd_points.py        (numpy)

Prints for F(4x4, 3x3) and F(4x4, 2x2) the errors of a tile's output and of the filters' gradient, sums over 64 channels or
tiles in float32, relative to those of the usual points. Every operation is a multiply-add rounded once.
"""
from fractions import Fraction

import numpy as np


def matrices(points, m, r):
    """A', G and B' of F(m, r) for some points and infinity."""
    n = m + r - 1
    p = [Fraction(x) for x in points]

    def times(roots):
        c = [Fraction(1)]
        for z in roots:
            c = [a - z * b for a, b in zip([Fraction(0)] + c, c + [Fraction(0)])]
        return c + [Fraction(0)] * (n - len(c))

    others = [[z for j, z in enumerate(p) if j != i] for i in range(n - 1)]
    scale = [np.prod([p[i] - z for z in others[i]]) for i in range(n - 1)]
    a = [[z**i for z in p] + [Fraction(i == m - 1)] for i in range(m)]
    g = [[p[i]**k / scale[i] for k in range(r)] for i in range(n - 1)] + [[Fraction(k == r - 1) for k in range(r)]]
    b = [times(o) for o in others] + [times(p)]
    return [np.array([[float(x) for x in row] for row in rows]) for rows in (a, g, b)]


def line(matrix, x):
    """matrix times x along the last axis, in float32."""
    result = []
    for row in matrix:
        y = np.zeros(x.shape[:-1], np.float32)
        for k in np.flatnonzero(row):
            y = np.float32(y + row[k] * x[..., k].astype(np.float64))
        result.append(y)
    return np.stack(result, -1)


def square(matrix, x):
    """matrix times x times the transpose of matrix, in float32."""
    return line(matrix, np.swapaxes(line(matrix, np.swapaxes(x, -1, -2)), -1, -2))


def total(u, v):
    """The sum of products over the first axis, in float32."""
    y = np.zeros(u.shape[1:], np.float32)
    for a, b in zip(u, v):
        y = np.float32(y + a.astype(np.float64) * b)
    return y


def errors(points, m, r, depth=64, squares=300):
    """Relative errors of the output and of the filters' gradient."""
    a, g, b = matrices(points, m, r)
    draw = np.random.default_rng(0)
    d, w, dy = (np.float32(draw.uniform(-1, 1, (depth, squares, k, k))) for k in (m + r - 1, r, m))
    wide, y, dw = d.astype(np.float64), np.zeros((squares, m, m)), np.zeros((squares, r, r))
    for i in range(r):
        for j in range(r):
            part = wide[:, :, i:i + m, j:j + m]
            y += np.einsum("ctyx,ct->tyx", part, w[:, :, i, j].astype(np.float64))
            dw[:, i, j] = np.einsum("ctyx,ctyx->t", part, dy.astype(np.float64))
    tile = square(b, d)
    got = square(a, total(square(g, w), tile)), square(g.T, total(square(a.T, dy), tile))
    return [np.linalg.norm(x - want) / np.linalg.norm(want) for x, want in zip(got, (y, dw))]


def compare(r, usual, candidates):
    base = errors(usual, 4, r)
    rows = [([e / f for e, f in zip(errors(points, 4, r), base)], points) for points in candidates]
    print(f"F(4x4, {r}x{r}) from {' '.join(map(str, usual))}: {base[0]:.2e} {base[1]:.2e}")
    for ratios, points in sorted(rows, key=lambda row: sum(row[0])):
        print("%.2f %.2f " % tuple(ratios), " ".join(map(str, points)))


eighths = [Fraction(k, 8) for k in range(4, 17)]
compare(3, [0, 1, -1, 2, -2], [[0, a, -a, b, -b] for a in eighths for b in eighths if a < b])
some = [Fraction(k, 8) for k in (4, 5, 6, 8, 10, 12, 16)]
compare(2, [0, 1, -1, 2], [[0, -c, a, b] for a in some for b in some for c in some if a < b])
