#!/usr/bin/env python3
"""What a checkpoint costs, from one run that is with and without them every other moment.

    results/checkpoint_cost.py [--blocks 60] [--block 10] [--out FILE] LOCKSTEP -- --model vgg11 --data cifar10 --batch 64

The run keeps a checkpoint every two blocks of steps, so of each pair of blocks one bears the snapshot and
the writing beside training, and the next does not: they are seconds apart, and the machine's moods
fall on both. (Whole runs in turn were 20 seconds apart and differed by up to 11 % either way.) The figure is
the median of the pairs' differences in seconds, with the 95 % interval that order statistics give (Hahn
and Meeker 1991), as a part of the time of --every steps without a checkpoint.
"""
import argparse
import json
import math
import statistics
import subprocess
import tempfile


def train(program, flags, blocks, block):
    """Seconds of every step, and the summary."""
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "train", "--json", "--quiet", "--out", folder + "/run", "--limit-test", "0",
                   "--save=false", "--checkpoint-every", str(2 * block), "--steps", str((2 * blocks + 2) * block)]
        done = subprocess.run(command + flags, check=True, capture_output=True, text=True)
        steps = [json.loads(line) for line in open(folder + "/run/steps.jsonl")]
        return {s["step"]: s["seconds"] for s in steps}, json.loads(done.stdout)


def interval(values):
    """Median, and the order statistics that hold it with at least 95 %."""
    v, n = sorted(values), len(values)
    cover = lambda k: 1 - 2 * sum(math.comb(n, i) for i in range(k)) / 2**n
    k = max([k for k in range(1, n // 2 + 1) if cover(k) >= 0.95], default=1)
    return statistics.median(v), v[k - 1], v[n - k], cover(k)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("program")
    p.add_argument("--blocks", type=int, default=60, help="of each kind")
    p.add_argument("--block", type=int, default=10, help="steps; the writing must end within them")
    p.add_argument("--every", type=int, default=100, help="steps between checkpoints that the figure is for")
    p.add_argument("--out", default="checkpoint_cost.jsonl")
    p.add_argument("flags", nargs="*")
    a = p.parse_args()
    seconds, s = train(a.program, a.flags, a.blocks, a.block)
    # Step 2 k block ends with the snapshot; the block that begins with it bears all.
    total = lambda first: sum(seconds[i] for i in range(first, first + a.block))
    pairs = [(total(at), total(at + a.block))
             for at in range(2 * a.block, (2 * a.blocks + 1) * a.block, 2 * a.block)]
    middle, low, high, covered = interval([with_ - without for with_, without in pairs])
    base = a.every * statistics.median(without for _, without in pairs) / a.block
    c = s["checkpoints"]
    row = {"flags": a.flags, "block": a.block, "blocks": len(pairs), "every": a.every,
           "median_step_ms": s["step_ms"]["median"], "checkpoints": c["count"], "late": c["late"],
           "bytes_each": c["bytes"] // c["count"], "writing_ms_each": 1e3 * c["writing_seconds"] / c["count"],
           "stood_still_ms_each": 1e3 * c["exposed_seconds"] / c["count"],
           "cost_ms": [round(1e3 * x, 1) for x in (middle, low, high)],
           "cost_percent": [round(100 * x / base, 3) for x in (middle, low, high)], "covered": covered}
    print(json.dumps(row))
    with open(a.out, "a") as out:
        row["pairs"] = [[round(x, 4) for x in pair] for pair in pairs]
        print(json.dumps(row), file=out)


main()
