"""Writes samples: images of 32x32, of ten classes, as .npy, into folders that `lockstep train --data` takes.

    python3 results/samples/make.py FOLDER [--small | --samples N]

FOLDER/big has 2,700,000 (8.3 GB), or N; FOLDER/sub its first 200,000, which is all that --small writes.
"""
import argparse, os, random

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("folder")
parser.add_argument("--small", action="store_true")
parser.add_argument("--samples", type=int, default=2_700_000)
a = parser.parse_args()
random.seed(7)


def head(descr, shape):
    h = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n" % (descr, shape)
    return b"\x93NUMPY\x01\x00" + len(h).to_bytes(2, "little") + h.encode()


SUB, TEST, BLOCK = 200_000, 2_000, 10_000
block = [random.randbytes(2048) + bytes([25 * (i % 10)]) * 1024 for i in range(BLOCK)]
twice = b"".join(block) * 2
labels = bytes(i % 10 for i in range(2 * BLOCK))


def write(folder, n):
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/train.npy", "wb") as f, open(f"{folder}/train-labels.npy", "wb") as g:
        f.write(head("|u1", f"({n}, 32, 32, 3)"))
        g.write(head("|u1", f"({n},)"))
        for k in range(0, n, BLOCK):
            s, rows = k // BLOCK * 37 % BLOCK, min(BLOCK, n - k)
            f.write(memoryview(twice)[3072 * s:3072 * (s + rows)])
            g.write(labels[s:s + rows])
    with open(f"{folder}/test.npy", "wb") as f:
        f.write(head("|u1", f"({TEST}, 32, 32, 3)") + twice[:3072 * TEST])
    with open(f"{folder}/test-labels.npy", "wb") as f:
        f.write(head("|u1", f"({TEST},)") + labels[:TEST])


write(f"{a.folder}/sub", min(SUB, a.samples))
if not a.small:
    write(f"{a.folder}/big", a.samples)
