#!/usr/bin/env python3
"""Trains with every kernel path of this processor and compares where the runs end: all hashes must be equal.

    results/onehash/onehash.py --lockstep ./lockstep > results/onehash/runs.jsonl

Each network is trained for some steps with each path, by one worker and by three. Of every run a line of JSON is
printed; the table goes to stderr. The exit status is 1 if any two hashes of a network, or two test losses, differ.
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
    "vgg11": ("--model vgg11 --data synthetic --batch 6", 20),
    "resnet20": ("--model resnet20 --data synthetic --batch 6 --optimizer lars", 20),
    "airbench": ("--model airbench --data synthetic --batch 6 --optimizer muon", 20),
    "resnet50": ("--model resnet50 --data synthetic --batch 3", 20),
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
parser.add_argument("--only", default="", help="names of runs, separated by semicolons")
parser.add_argument("--paths", default="", help="kernel paths, separated by commas; default: all")
parser.add_argument("--workers", default="1,3")
parser.add_argument("--threads", default="2", help="of one worker; each of three has one")
parser.add_argument("--steps", type=int, default=0, help="instead of those of the runs")
args = parser.parse_args()


def train(name, path, workers):
    """Trains and returns what is compared."""
    flags, steps = RUNS[name]
    with tempfile.TemporaryDirectory() as folder:
        command = [args.lockstep, "train", *flags.split(), "--steps", str(args.steps or steps), "--shards", "3",
                   "--isa", path, "--workers", str(workers), "--threads", args.threads if workers == 1 else "1",
                   "--seed", "7", "--save=false", "--out", os.path.join(folder, "run"), "--quiet"]
        if "limit-test" not in flags:
            command += ["--limit-test", "24"]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit("%s: status %d\n%s" % (" ".join(command), done.returncode, done.stderr))
        with open(os.path.join(folder, "run", "summary.json")) as file:
            s = json.load(file)
    row = {"run": name, "isa": s["isa"], "workers": workers, "math": s["math"], "steps": s["steps"],
           "step_ms": s["step_ms"]["median"], "test_loss": s["test_loss"],
           "parameter_sha256": s["parameter_sha256"]}
    print(json.dumps(row), flush=True)
    return row


def supported():
    """Returns the kernel paths of this processor, the best last."""
    version = json.loads(subprocess.run([args.lockstep, "version", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    return version["isa"]


paths = args.paths.split(",") if args.paths else supported()
equal = True
for name in args.only.split(";") if args.only else RUNS:
    rows = [train(name, path, int(w)) for path in paths for w in args.workers.split(",")]
    ends = {(r["parameter_sha256"], r["test_loss"]) for r in rows}
    equal = equal and len(ends) == 1
    times = ", ".join("%s %.1f" % (r["isa"], r["step_ms"]) for r in rows if r["workers"] == 1)
    print("%s: %s %s; ms of a step of one worker: %s" % (
        name, "EQUAL" if len(ends) == 1 else "DIFFERENT", " ".join(sorted(h[:12] for h, _ in ends)), times),
        file=sys.stderr)
sys.exit(0 if equal else 1)
