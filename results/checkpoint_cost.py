#!/usr/bin/env python3
"""What checkpoints cost: runs with and without them in turn, and an interval for the ratio of their times.

    results/checkpoint_cost.py [--pairs 7] [--every 100] [--out FILE] LOCKSTEP -- --model vgg11 --steps 200

Each pair is a run without and one with --checkpoint-every EVERY, the order swapped from pair to pair. The figure
is the median of the pairs' ratios, with the 95 % interval that order statistics give (Hahn and Meeker 1991).
"""
import argparse
import json
import math
import os
import shutil
import subprocess
import tempfile


def run(program, flags):
    folder = tempfile.mkdtemp()
    try:
        done = subprocess.run([program, "train", "--json", "--quiet", "--out", folder + "/run", *flags],
                              check=True, capture_output=True, text=True)
        return json.loads(done.stdout)
    finally:
        shutil.rmtree(folder)


def interval(ratios):
    """Median, and the order statistics that hold it with at least 95 % (or as much as there is)."""
    r, n = sorted(ratios), len(ratios)
    cover = lambda k: 1 - 2 * sum(math.comb(n, i) for i in range(k)) / 2**n
    k = max([k for k in range(1, n // 2 + 1) if cover(k) >= 0.95], default=1)
    middle = (r[(n - 1) // 2] + r[n // 2]) / 2
    return middle, r[k - 1], r[n - k], cover(k)


def ratio(row):
    return row["with"]["train_seconds"] / row["without"]["train_seconds"]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("--pairs", type=int, default=7)
    p.add_argument("--every", default="100")
    p.add_argument("--out", default="checkpoint_cost.jsonl", help="pairs are added to those in it")
    p.add_argument("flags", nargs="*")
    a = p.parse_args()
    rows = [json.loads(line) for line in open(a.out)] if os.path.exists(a.out) else []
    for pair in range(len(rows), len(rows) + a.pairs):
        kinds = {"without": [], "with": ["--checkpoint-every", a.every]}
        row = {"every": a.every, "flags": a.flags, "pair": pair}
        for kind in sorted(kinds, reverse=pair % 2 == 0):
            s = run(a.program, a.flags + kinds[kind])
            row[kind] = {k: s[k] for k in ("train_seconds", "step_ms", "checkpoints", "parameter_sha256")}
        assert row["with"]["parameter_sha256"] == row["without"]["parameter_sha256"]
        with open(a.out, "a") as out:
            print(json.dumps(row), file=out)
        rows.append(row)
        stood = row["with"]["checkpoints"]["exposed_seconds"] / row["with"]["train_seconds"]
        print(f"pair {pair}: {ratio(row):.4f}, stood still for {100 * stood:.2f} %", flush=True)
    middle, low, high, covered = interval([ratio(r) for r in rows])
    print(f"with over without: {middle:.4f} ({low:.4f} to {high:.4f}, {100 * covered:.1f} %)")


main()
