#!/usr/bin/env python3
"""Time steps of the recipe cifar10-94 in Lockstep and in PyTorch, in turn.

    LOCKSTEP_DATA=FOLDER results/compare_cifar94.py --rounds 3 --out FILE

results/peers has cifar94.py, the same recipe in PyTorch, which times steps on random images. Each round times both with the
whitening bias trained, as in the first three epochs, and frozen, as in the other seven, two threads each. The
last line has the median ratios theirs / ours, and both sides' steps weighted as in a run (147 of 478 are
trained).
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--steps", type=int, default=5)
parser.add_argument("--binary", default="bin/lockstep")
parser.add_argument("--python", default=sys.executable, help="a Python that has torch")
parser.add_argument("--out", default="cifar94.jsonl")
a = parser.parse_args()
FROZEN = ["--groups", "whiten.*=0,0;*.norm*.weight=0,0;*.norm*.bias=64,0.0000207880"]


def ours(frozen):
    with tempfile.TemporaryDirectory() as out:
        command = [a.binary, "recipe", "run", "cifar10-94", "--quiet", "--json", "--steps", str(a.steps),
                   "--limit-test", "100", "--threads", "2", "--out", out + "/run"]
        done = subprocess.run(command + (FROZEN if frozen else []), check=True, capture_output=True)
        s = json.loads(done.stdout)
        return s["step_ms"]["median"], s["work"]["peak_flops"] / 1e9


def theirs(frozen):
    command = [a.python, "cifar94.py", "--threads", "2", "--synthetic", str(a.steps)]
    done = subprocess.run(command + (["--frozen"] if frozen else []), check=True, capture_output=True,
                          cwd=PEERS)
    return 1e3 * json.loads(done.stdout.splitlines()[-1])["sec_per_step"]


rows = []
for number in range(a.rounds):
    row = {"round": number + 1, "steps": a.steps}
    for name, frozen in (("trained", False), ("frozen", True)):
        row["torch_" + name + "_ms"] = round(theirs(frozen), 1)
        step, row["peak_gflops"] = ours(frozen)
        row["lockstep_" + name + "_ms"] = round(step, 1)
    rows.append(row)
    print(json.dumps(row), flush=True)
    with open(a.out, "a") as out:
        print(json.dumps(row), file=out)
median = lambda f: round(statistics.median(f(r) for r in rows), 3)
whole = lambda r, who: (147 * r[who + "_trained_ms"] + 331 * r[who + "_frozen_ms"]) / 1e3
print(json.dumps({
    "trained": median(lambda r: r["torch_trained_ms"] / r["lockstep_trained_ms"]),
    "frozen": median(lambda r: r["torch_frozen_ms"] / r["lockstep_frozen_ms"]),
    "run": median(lambda r: whole(r, "torch") / whole(r, "lockstep")),
    "torch_run_s": median(lambda r: whole(r, "torch")),
    "lockstep_run_s": median(lambda r: whole(r, "lockstep"))}))
