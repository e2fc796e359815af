#!/usr/bin/env python3
"""Time what exchanging gradients costs, in Lockstep and in PyTorch, in turn.

    results/compare_exchange.py --model lenet --batch 16 --workers 2 --rounds 5

results/peers has ddp.py, which times PyTorch steps over Gloo (last line: JSON with sec_per_iter). Each
round runs both programs without exchange and with ddp, one thread per worker, loopback between
processes; the batch is per worker. The claim is the median of the rounds' ratios ddp / none.
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
parser.add_argument("--model", required=True)
parser.add_argument("--batch", type=int, required=True, help="per worker")
parser.add_argument("--workers", type=int, default=2)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--steps", type=int, default=1000, help="our steps per run")
parser.add_argument("--iterations", type=int, default=300, help="their steps per run")
parser.add_argument("--binary", default="bin/lockstep")
parser.add_argument("--python", default=sys.executable, help="a Python that has torch")
a = parser.parse_args()


def ours(strategy):
    with tempfile.TemporaryDirectory() as out:
        command = [a.binary, "train", "--quiet", "--json", "--model", a.model, "--data", "synthetic",
                   "--batch", str(a.batch * a.workers), "--workers", str(a.workers), "--threads", "1",
                   "--steps", str(a.steps), "--lr", "0.01", "--weight-decay", "1e-4",
                   "--limit-test", "0", "--strategy", strategy, "--out", out + "/run"]
        done = subprocess.run(command, check=True, capture_output=True)
        return json.loads(done.stdout)["step_ms"]["median"]


def theirs(strategy):
    command = [a.python, "ddp.py", "--model", a.model, "--batch", str(a.batch), "--world",
               str(a.workers), "--threads", "1", "--env", "tuned", "--strategy", strategy,
               "--iters", str(a.iterations)]
    done = subprocess.run(command, check=True, capture_output=True, cwd=PEERS)
    return json.loads(done.stdout.splitlines()[-1])["sec_per_iter"] * 1e3


own, other = [], []
for number in range(a.rounds):
    row = {"model": a.model, "batch_per_worker": a.batch, "workers": a.workers, "round": number + 1}
    for name, run, ratios in (("torch", theirs, other), ("lockstep", ours, own)):
        none, ddp = run("none"), run("ddp")
        ratios.append(ddp / none)
        row |= {name + "_none_ms": round(none, 3), name + "_ddp_ms": round(ddp, 3)}
    print(json.dumps(row), flush=True)
print(json.dumps({"model": a.model, "batch_per_worker": a.batch, "workers": a.workers,
                  "lockstep_ddp_over_none": round(statistics.median(own), 3),
                  "torch_ddp_over_none": round(statistics.median(other), 3)}))
