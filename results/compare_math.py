#!/usr/bin/env python3
"""Trains recipes with --math fast and another math, the same seeds with both, and compares where they end.

    LOCKSTEP_DATA=... results/compare_math.py --lockstep ./lockstep --math bf16 --seeds 5 \\
        --run "bert-sst2 --model bert-tiny --epochs 1" --run "lenet-mnist --epochs 1" > results/bf16/runs.jsonl

Each --run is a recipe with its flags. Of every run a line of JSON is printed; the table goes to stderr: means over the
seeds, and the mean of the paired differences with its 95 % interval (Student's t).
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

T95 = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365}  # by number of pairs

parser = argparse.ArgumentParser()
parser.add_argument("--lockstep", default="lockstep")
parser.add_argument("--math", default="bf16")
parser.add_argument("--seeds", type=int, default=5)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--run", action="append", required=True)
args = parser.parse_args()


def train(recipe, seed, how):
    """Runs a recipe and returns what is compared."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "run")
        # A recipe that misses its goal exits with another status: these are shorter than it wants.
        done = subprocess.run([args.lockstep, "recipe", "run", *recipe.split(), "--seed", str(seed), "--math", how,
                               "--threads", str(args.threads), "--out", out, "--quiet"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        path = os.path.join(out, "summary.json")
        if not os.path.exists(path):
            sys.exit("%s: status %d\n%s" % (recipe, done.returncode, done.stderr))
        with open(path) as file:
            s = json.load(file)
    row = {"run": recipe, "seed": seed, "math": how, "isa": s["isa"], "steps": s["steps"],
           "test_accuracy": s["test_accuracy"], "test_loss": s["test_loss"], "loss": s["loss"],
           "train_seconds": s["seconds"], "parameter_sha256": s["parameter_sha256"]}
    print(json.dumps(row), flush=True)
    return row


def interval(values):
    half = T95[len(values)] * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return statistics.mean(values), half


for recipe in args.run:
    pairs = [[train(recipe, seed, how) for how in ("fast", args.math)] for seed in range(1, args.seeds + 1)]
    same = sum(a["parameter_sha256"] == b["parameter_sha256"] for a, b in pairs)
    print("%s: %d of %d seeds end with the same parameters" % (recipe, same, len(pairs)), file=sys.stderr)
    for key in ("test_accuracy", "test_loss"):
        fast, other = ([p[i][key] for p in pairs] for i in range(2))
        mean, half = interval([b - a for a, b in zip(fast, other)])
        print("  %s: fast %.4f (%.4f to %.4f), %s %.4f (%.4f to %.4f), difference %+.4f +- %.4f" % (
            key, statistics.mean(fast), min(fast), max(fast), args.math, statistics.mean(other), min(other), max(other),
            mean, half), file=sys.stderr)
