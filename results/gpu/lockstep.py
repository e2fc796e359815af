#!/usr/bin/env python3
"""Time Lockstep's training steps on a GPU, for the networks of pytorch.py.

    results/gpu/lockstep.py --binary bin/lockstep-cuda --out lockstep.jsonl

Each run trains on generated samples, which are prepared on the host and sent in every step; a step also brings its
loss back. The time of a step is the median of a run without its first tenth. Lines are appended to --out.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--binary", default="bin/lockstep-cuda")
parser.add_argument("--out", required=True)
parser.add_argument("--math", default="bf16,tf32,fp32")
parser.add_argument("--only", default="", help="a regular expression that a network's name has to match")
parser.add_argument("--seconds", type=float, default=1.0, help="of steps in each run, about")
parser.add_argument("--device", default="cuda")
parser.add_argument("--limit", type=float, default=40, help="seconds after which a run is given up")
parser.add_argument("--extra", default="", help="more flags of train")
a = parser.parse_args()

SGD = ["--lr", "0.01", "--weight-decay", "1e-4"]
ADAMW = ["--optimizer", "adamw", "--lr", "1e-4", "--weight-decay", "0.01"]
NETWORKS = {  # name: network, batch, milliseconds that a step takes at least, flags
    "lenet": ("lenet", 64, 0.2, SGD),
    "vgg11": ("vgg11", 256, 3, SGD),
    "bert-base": ("bert-base", 32, 15, ["--sequence", "128"] + ADAMW),
    "resnet50": ("resnet50", 256, 20, SGD),
    "resnet50_224": ("resnet50", 64, 20, ["--size", "224"] + SGD),
}


def run(name, math):
    network, batch, least, flags = NETWORKS[name]
    steps = max(20, int(1000 * a.seconds / least))
    with tempfile.TemporaryDirectory() as folder:
        command = [a.binary, "train", "--quiet", "--json", "--device", a.device, "--math", math, "--model", network,
                   "--data", "synthetic", "--batch", str(batch), "--shards", "1", "--steps", str(steps),
                   "--limit-test", "0", "--limit-train", str(4 * batch), "--out", folder + "/run"] + flags
        command += a.extra.split()
        began = time.time()
        done = subprocess.run(command, capture_output=True, text=True, timeout=a.limit)
        if done.returncode != 0:
            return {"error": (done.stderr or done.stdout)[-600:], "wall_s": round(time.time() - began, 2)}
        lines = [json.loads(s) for s in open(folder + "/run/steps.jsonl")]
    lines = lines[len(lines) // 10:]
    phases = {}
    for s in lines:
        for phase, seconds in s["phases"].items():
            phases.setdefault(phase, []).append(1000 * seconds)
    times = sorted(1000 * s["seconds"] for s in lines)
    return {"median_ms": round(statistics.median(times), 4), "min_ms": round(times[0], 4),
            "p90_ms": round(times[len(times) * 9 // 10], 4), "steps": len(times), "last_loss": lines[-1]["loss"],
            "phases_ms": {p: round(statistics.median(v), 4) for p, v in phases.items()},
            "wall_s": round(time.time() - began, 2)}


for name in NETWORKS:
    if not re.search(a.only, name):
        continue
    for math in a.math.split(","):
        record = {"program": "lockstep", "network": name, "batch": NETWORKS[name][1], "math": math}
        try:
            record.update(run(name, math))
        except subprocess.TimeoutExpired:
            record["error"] = "no end after %g s" % a.limit
        with open(a.out, "a") as out:
            out.write(json.dumps(record) + "\n")
        print(json.dumps(record), flush=True)
