#!/usr/bin/env python3
"""How much more than direct products the algorithms with fewer products lose when their operands are rounded to bf16.

    results/accuracy/rounded_sums.py            (needs numpy)

Operands are transformed in float64, rounded to bf16, and multiplied and transformed back in float64, so that rounding of operands is
all that is lost. Inputs are normal, of 64 channels, with and without ReLU; weights are normal. Prints the root mean square of the
error over that of the same product with operands rounded directly. docs/design/0028 says what follows.
"""
import numpy


def bf16(x):
    bits = x.astype(numpy.float32).view(numpy.uint32)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(numpy.uint32).view(numpy.float32).astype(numpy.float64)


def toom(points, outputs, taps=3):
    """Matrices A', G, B' of a one-dimensional form with these points and the one at infinity (Cook and Toom)."""
    n = len(points) + 1
    a, g, b = numpy.zeros((outputs, n)), numpy.zeros((n, taps)), numpy.zeros((n, n))
    for i, p in enumerate(points):
        others = [q for q in points if q != p]
        a[:, i] = [p**k for k in range(outputs)]
        g[i] = [p**k / numpy.prod([p - q for q in others]) for k in range(taps)]
        b[i, :n - 1] = numpy.poly(others)[::-1]
    a[-1, -1] = g[-1, -1] = 1
    b[-1] = numpy.poly(points)[::-1]
    return a, g, b


def loss(result, want):
    return numpy.sqrt(numpy.mean((result - want)**2))


def winograd(rows, columns, hasReLU, tiles=200, channels=64, filters=16):
    (ar, gr, br), (ac, gc, bc) = rows, columns
    random = numpy.random.default_rng(1)
    x = random.normal(size=(tiles, channels, br.shape[0], bc.shape[0]))
    x = numpy.maximum(x, 0) if hasReLU else x
    w = random.normal(size=(filters, channels, 3, 3))

    def direct(x, w):
        p, q = ar.shape[0], ac.shape[0]
        return sum(numpy.einsum("tcyx,kc->tkyx", x[:, :, i:i + p, j:j + q], w[:, :, i, j]) for i in range(3) for j in range(3))

    def transformed(round):
        u = round(numpy.einsum("ai,kcij,bj->kcab", gr, w, gc))
        v = round(numpy.einsum("ai,tcij,bj->tcab", br, x, bc))
        return numpy.einsum("ai,tkij,bj->tkab", ar, numpy.einsum("kcab,tcab->tkab", u, v), ac)

    want = direct(x, w)
    assert numpy.allclose(transformed(lambda x: x), want)
    return loss(transformed(bf16), want) / loss(direct(bf16(x), bf16(w)), want)


def strassen(hasReLU, n=256):
    random = numpy.random.default_rng(1)
    x, w = random.normal(size=(n, n)), random.normal(size=(n, n))
    x = numpy.maximum(x, 0) if hasReLU else x
    h = n // 2
    a, b, c, d = x[:h, :h], x[:h, h:], x[h:, :h], x[h:, h:]
    e, f, g, i = w[:h, :h], w[:h, h:], w[h:, :h], w[h:, h:]
    m = [bf16(s) @ bf16(t) for s, t in ((a + d, e + i), (c + d, e), (a, f - i), (d, g - e), (a + b, i), (c - a, e + f), (b - d, g + i))]
    got = numpy.block([[m[0] + m[3] - m[4] + m[6], m[2] + m[4]], [m[1] + m[3], m[0] - m[1] + m[2] + m[5]]])
    return loss(got, x @ w) / loss(bf16(x) @ bf16(w), x @ w)


if __name__ == "__main__":
    two, four, apart = toom([0, 1, -1], 2), toom([0, 1, -1, 2, -2], 4), toom([0, 2 / 3, -2 / 3, 3 / 2, -3 / 2], 4)
    print("| | products, of direct ones | error, of direct ones | with ReLU |\n|---|--:|--:|--:|")
    for name, rows, columns in (("F(2x2, 3x3)", two, two), ("F(2x4, 3x3), points 0, 2/3, -2/3, 3/2, -3/2", two, apart),
                                ("F(4x4, 3x3), the same points", apart, apart), ("F(4x4, 3x3), points 0, 1, -1, 2, -2", four, four)):
        p, q = rows[0].shape, columns[0].shape
        share = p[1] * q[1] / (9 * p[0] * q[0])
        print(f"| {name} | {share:.2f} | {winograd(rows, columns, False):.2f} | {winograd(rows, columns, True):.2f} |")
    print(f"| Strassen's, one step | {7 / 8:.2f} | {strassen(False):.2f} | {strassen(True):.2f} |")
