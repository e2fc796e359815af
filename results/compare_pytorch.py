#!/usr/bin/env python3
"""Time training steps of Lockstep and of PyTorch in turn, and print the ratios.

    results/compare_pytorch.py --model vgg11 --batch 64 --threads 1 --pairs 5

results/peers has step.py, which times a PyTorch step (last line: JSON with sec_per_iter). PyTorch runs
tuned. For images the first pair runs both memory formats, and the better one of them is theirs in
every pair. Both sides: synthetic input, SGD with momentum 0.9 and weight decay 1e-4, whole
steps, the median of a run. Ours computes as --math says, several in turn: only fast and exact multiply
in float32 (docs/design/0007). Theirs does too unless --mode is bf16: torch.autocast(cpu, bfloat16). Runs
alternate, theirs and ours; the claim is the median of the pairs' ratios. The model resnet50_224 is resnet50 on images of 224 pixels (ours with 10 classes, theirs
with 1000: 0.04 % of the work).
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--model", required=True)
parser.add_argument("--batch", type=int, required=True)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--pairs", type=int, default=5)
parser.add_argument("--sequence", type=int, default=128, help="tokens of a text, for models that read texts")
parser.add_argument("--math", default="fast", help="how ours computes: names, separated by commas")
parser.add_argument("--mode", default="eager", choices=("eager", "bf16"), help="how theirs computes")
parser.add_argument("--steps", type=int, default=12, help="our steps per run")
parser.add_argument("--seconds", type=float, default=4, help="their seconds per run and format")
parser.add_argument("--isa", choices=("auto", "avx2"), default="auto", help="avx2: both sides do without AVX-512")
parser.add_argument("--binary", default="bin/lockstep")
parser.add_argument("--python", default=sys.executable, help="a Python that has torch")
a = parser.parse_args()
reads_texts = a.model.startswith("bert")
narrow = {} if a.isa == "auto" else {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2",
                                     "MKL_ENABLE_INSTRUCTIONS": "AVX2"}


def ours(math):
    with tempfile.TemporaryDirectory() as out:
        model, _, size = a.model.partition("_")
        command = [a.binary, "train", "--quiet", "--json", "--model", model, "--data", "synthetic",
                   "--batch", str(a.batch), "--threads", str(a.threads), "--shards", "1", "--steps", str(a.steps),
                   "--lr", "0.01", "--weight-decay", "1e-4", "--limit-test", "0", "--math", math,
                   "--out", out + "/run"]
        if a.isa != "auto":
            command += ["--isa", a.isa]
        if reads_texts:
            command += ["--sequence", str(a.sequence)]
        if size:
            command += ["--size", size]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def theirs(memory_format):
    command = [a.python, "step.py", "--model", a.model, "--batch", str(a.batch), "--threads",
               str(a.threads), "--env", "tuned", "--mode", a.mode, "--format", memory_format,
               "--seconds", str(a.seconds)]
    done = subprocess.run(command, check=True, capture_output=True, cwd=PEERS, env=dict(os.environ, **narrow))
    return json.loads(done.stdout.splitlines()[-1])


ratios, formats = {math: [] for math in a.math.split(",")}, ["nchw"] if reads_texts else ["channels_last", "nchw"]
for pair in range(a.pairs):
    best = min((theirs(f) for f in formats), key=lambda r: r["sec_per_iter"])
    formats = [best["format"]]
    other = best["sec_per_iter"] * 1e3
    for math in ratios:
        own = ours(math)
        ms = own["step_ms"]["median"]
        ratios[math].append(other / ms)
        print(json.dumps({"model": a.model, "batch": a.batch, "threads": a.threads, "pair": pair + 1,
                          "math": math, "lockstep_ms": round(ms, 3), "isa": own["isa"],
                          "torch_ms": round(other, 3), "mode": a.mode, "format": best["format"], "torch": best["torch"],
                          "torch_over_lockstep": round(other / ms, 3)}), flush=True)
cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line),
           platform.processor())
for math, list in ratios.items():
    print(json.dumps({"model": a.model, "batch": a.batch, "threads": a.threads, "pairs": a.pairs, "math": math,
                      "mode": a.mode, "median_torch_over_lockstep": round(statistics.median(list), 3),
                      "min": round(min(list), 3), "max": round(max(list), 3), "cpu": cpu}))
