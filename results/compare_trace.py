#!/usr/bin/env python3
"""Time what recording spans costs: runs with --spans and --spans=false, in turn, each round in the other order.

    results/compare_trace.py --model lenet --batch 64 --workers 2 --steps 1500 --rounds 20

One JSON line per round, then one with the median of the rounds' ratios on / off, of the median step and of
the processor time of a step, which other programs disturb less. Each has the 95 % interval of the median, by
the signs of the rounds.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--model", required=True)
parser.add_argument("--batch", type=int, default=64, help="of all workers")
parser.add_argument("--workers", type=int, default=2)
parser.add_argument("--strategy", default="ddp")
parser.add_argument("--steps", type=int, default=1500)
parser.add_argument("--rounds", type=int, default=20)
parser.add_argument("--binary", default="bin/lockstep")
a = parser.parse_args()


def once(spans):
    """Returns the median step in ms, the mean processor time of a step in ms, and bytes of spans per step."""
    with tempfile.TemporaryDirectory() as out:
        strategy = a.strategy if a.workers > 1 else "single"
        command = [a.binary, "train", "--quiet", "--json", "--model", a.model, "--data", "synthetic",
                   "--batch", str(a.batch), "--workers", str(a.workers), "--threads", "1", "--strategy",
                   strategy, "--steps", str(a.steps), "--lr", "0.001", "--limit-test", "0",
                   "--spans=" + ("true" if spans else "false"), "--out", out + "/run"]
        done = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        cpu = [json.loads(line) for line in open(out + "/run/steps.jsonl")]
        cpu = statistics.median(l["cpu_seconds"] for l in cpu if l["step"] > 1)
        folder = out + "/run/spans"
        size = sum(os.path.getsize(os.path.join(folder, f)) for f in os.listdir(folder)) if spans else 0
        return done["step_ms"]["median"], 1e3 * cpu, size / a.steps / a.workers


def summary(ratios):
    """Returns the median in percent above 1, with the interval between the order statistics around it."""
    s, n = sorted(ratios), len(ratios)
    k = max(0, int(n / 2 - 0.98 * n ** 0.5))
    return {"percent": round(100 * (statistics.median(s) - 1), 2),
            "low": round(100 * (s[k] - 1), 2), "high": round(100 * (s[n - 1 - k] - 1), 2)}


wall, cpu = [], []
for number in range(a.rounds):
    got = {}
    for spans in (True, False) if number % 2 else (False, True):
        got[spans] = once(spans)
    wall.append(got[True][0] / got[False][0])
    cpu.append(got[True][1] / got[False][1])
    print(json.dumps({"model": a.model, "workers": a.workers, "round": number + 1,
                      "on_ms": round(got[True][0], 4), "off_ms": round(got[False][0], 4),
                      "on_cpu_ms": round(got[True][1], 4), "off_cpu_ms": round(got[False][1], 4),
                      "bytes_per_step": round(got[True][2])}), flush=True)
print(json.dumps({"model": a.model, "batch": a.batch, "workers": a.workers, "rounds": a.rounds,
                  "step": summary(wall), "processor_time": summary(cpu)}))
