#!/usr/bin/env python3
"""Trains with every kernel path of this processor and compares where the runs end: all hashes must be equal.

    results/onehash/onehash.py --lockstep ./lockstep
    results/onehash/onehash.py --lockstep ./lockstep-arm64 --under qemu-aarch64

Each network is trained for some steps with each path, by one worker and by three. Each run adds a line to runs.jsonl;
what is there already is compared, not run again. Prints a table. The exit status is 1 if any two hashes of a network, or
two test losses, differ.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

# name: flags, steps. Batches are small because plain Go is slow.
RUNS = {
    "lenet": ("--model lenet --data synthetic --batch 48 --optimizer sgd", 20),
    "mlp": ("--model mlp --data synthetic --batch 48 --optimizer lamb", 20),
    "vgg11": ("--model vgg11 --data synthetic --batch 3", 20),
    "resnet20": ("--model resnet20 --data synthetic --batch 6 --optimizer lars", 20),
    "airbench": ("--model airbench --data synthetic --batch 3 --optimizer muon --limit-test 3", 20),
    "resnet50": ("--model resnet50 --data synthetic --batch 3 --limit-test 3", 20),
    "resnet50, ImageNet stem, 32 pixels":
        ("--model resnet50 --data synthetic --stem imagenet --batch 3 --limit-test 3", 20),
    "bert-tiny": ("--model bert-tiny --data synthetic --sequence 64 --batch 6 --optimizer adamw", 20),
    "bert-mini": ("--model bert-mini --data synthetic --sequence 64 --batch 3 --optimizer adamw", 20),
    "lenet, exact": ("--model lenet --data synthetic --batch 48 --math exact", 20),
    "resnet20, exact": ("--model resnet20 --data synthetic --batch 6 --math exact", 20),
    "bert-tiny, exact": ("--model bert-tiny --data synthetic --sequence 64 --batch 6 --optimizer adamw --math exact", 20),
    "resnet20, bf16": ("--model resnet20 --data synthetic --batch 6 --math bf16", 20),
    "bert-tiny, bf16": ("--model bert-tiny --data synthetic --sequence 64 --batch 6 --optimizer adamw --math bf16", 20),
    "resnet20, 200 steps": ("--model resnet20 --data synthetic --batch 6", 200),
    "bert-tiny on SST-2, 200 steps": ("--model bert-tiny --data sst2 --batch 6 --optimizer adamw --limit-test 100", 200),
}

parser = argparse.ArgumentParser()
parser.add_argument("--lockstep", default="lockstep")
parser.add_argument("--under", default="", help="an emulator that runs it; workers are then of one process")
parser.add_argument("--runs", default=os.path.join(os.path.dirname(__file__), "runs.jsonl"), help="file of runs")
parser.add_argument("--only", default="", help="names of runs, separated by semicolons")
parser.add_argument("--paths", default="", help="kernel paths, separated by commas; default: all")
parser.add_argument("--workers", default="1,3")
parser.add_argument("--threads", default="2", help="of one worker; each of three has one")
args = parser.parse_args()
program = [*args.under.split(), args.lockstep]


def train(name, path, workers):
    """Trains and returns what is compared."""
    flags, steps = RUNS[name]
    with tempfile.TemporaryDirectory() as folder:
        command = [*program, "train", *flags.split(), "--steps", str(steps), "--shards", "3",
                   "--isa", path, "--workers", str(workers), "--threads", args.threads if workers == 1 else "1",
                   "--seed", "7", "--save=false", "--out", os.path.join(folder, "run"), "--quiet"]
        if "limit-test" not in flags:
            command += ["--limit-test", "24"]
        if args.under and workers > 1:
            command += ["--link", "local"]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit("%s: status %d\n%s" % (" ".join(command), done.returncode, done.stderr))
        with open(os.path.join(folder, "run", "summary.json")) as file:
            s = json.load(file)
    return {"run": name, "isa": s["isa"], "workers": workers, "math": s["math"], "steps": s["steps"],
            "step_ms": s["step_ms"]["median"], "test_loss": s["test_loss"], "parameter_sha256": s["parameter_sha256"]}


def supported():
    """Returns the kernel paths of this processor, the best last."""
    version = json.loads(subprocess.run([*program, "version", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    return version["isa"]


def known():
    """Returns the lines of the file of runs."""
    if not os.path.exists(args.runs):
        return []
    with open(args.runs) as file:
        return [json.loads(line) for line in file]


names = args.only.split(";") if args.only else list(RUNS)
for name in names:
    for path in args.paths.split(",") if args.paths else supported():
        for workers in map(int, args.workers.split(",")):
            if not any((r["run"], r["isa"], r["workers"]) == (name, path, workers) for r in known()):
                row = train(name, path, workers)
                with open(args.runs, "a") as file:
                    file.write(json.dumps(row) + "\n")

equal = True
print("| run | steps | workers by path | hash |\n|---|---|---|---|")
for name in names:
    rows = [r for r in known() if r["run"] == name]
    ends = {(r["parameter_sha256"], r["test_loss"]) for r in rows}
    equal = equal and len(ends) == 1
    done = {path: sorted(r["workers"] for r in rows if r["isa"] == path) for path in ("plain", "avx2", "avx512", "neon")}
    print("| %s | %s | %s | %s |" % (
        name, RUNS[name][1], ", ".join("%s %s" % (path, " ".join(map(str, n))) for path, n in done.items() if n),
        " ".join("`%s`" % h for h in sorted(e[0][:12] for e in ends))))
sys.exit(0 if equal else "hashes or losses differ")
