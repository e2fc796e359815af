#!/usr/bin/env python3
"""Time what recording spans costs within one run, which records in every other step.

    git apply results/trace/alternate.patch && go build -o alternate ./cmd/lockstep && git checkout train trace
    results/trace/alternate.py ./alternate vgg11 64 1400

A step that records is held against the mean of its two neighbours, which do not. One recording step in eight
also has the runs of its ops; both kinds are weighted as they occur. Intervals are of 95 %, by resampling.
"""
import json
import random
import statistics
import subprocess
import sys
import tempfile

binary, model, batch, steps = sys.argv[1:5]
with tempfile.TemporaryDirectory() as out:
    subprocess.run([binary, "train", "--quiet", "--json", "--model", model, "--data", "synthetic", "--batch", batch,
                    "--workers", "2", "--threads", "1", "--strategy", "ddp", "--steps", steps, "--lr", "0.001",
                    "--limit-test", "0", "--out", out + "/run"], check=True, capture_output=True)
    lines = [json.loads(line) for line in open(out + "/run/steps.jsonl")]
lines = sorted((line for line in lines if line["rank"] == 0), key=lambda line: line["step"])
seconds = [line["seconds"] for line in lines]
plain, grouped = [], []
for i in range(2, len(lines) - 1):
    if lines[i]["step"] % 2 == 0:
        ratio = seconds[i] / ((seconds[i - 1] + seconds[i + 1]) / 2)
        (grouped if lines[i]["step"] % 16 == 2 else plain).append(ratio)


def cost(some, others):
    return 100 * ((7 * statistics.median(some) + statistics.median(others)) / 8 - 1)


random.seed(1)
again = sorted(cost(random.choices(plain, k=len(plain)), random.choices(grouped, k=len(grouped))) for _ in range(1000))
print(f"{model} {batch}: step {1e3 * statistics.median(seconds):.2f} ms, recording {cost(plain, grouped):+.2f} % "
      f"({again[25]:+.2f} to {again[975]:+.2f}), {len(plain)} and {len(grouped)} steps")
