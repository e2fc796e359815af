#!/usr/bin/env python3
"""Freezes predictions of 3 and 4 hosts of a lab from runs of 1 and 2 workers, then measures them.

    results/predict/verify.py --lockstep ./lockstep --out results/predict/runs
    results/predict/verify.py --out results/predict/runs --table

For every model and network: lockstep predict calibrates and freezes a file, lockstep predict verify runs its
rows in interleaved rounds. Files that are there are not made again, so an interrupted matrix goes on. --table
prints what is there: errors of the prediction, of computing + bytes / bandwidth, and of Amdahl's law on the same
rows, and how many measurements lay within the 90 % intervals. Standard library only; needs root for the lab.
--networks processes is of workers of this machine, more than it has cores.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

# Batches for steps of some milliseconds to half a second, in shards that do not divide by 3.
MODELS = {
    "lenet": ["--batch", "64"],
    "vgg11": ["--batch", "32"],
    "bert-mini": ["--batch", "16", "--sequence", "32"],
    "resnet50": ["--batch", "128", "--shards", "4", "--stem", "imagenet"],  # as r1 has it; its gradients fit no cache
}
NETWORKS = ["1gbit", "200mbit"]
STRATEGIES = "gather-scatter,all-reduce,ddp,ddp:overlap-forward,ps"


def run(command):
    print("+", " ".join(map(str, command)), file=sys.stderr, flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"{command[0]} ended with status {done.returncode}")
    return json.loads(done.stdout)


def freeze(args, model, network, path):
    hosts = [] if network == "processes" else ["--network", network, "--in-lab"]
    run([args.lockstep, "predict", "--models", model, "--data", "synthetic", "--threads", "1", *MODELS[model],
         *hosts, "--workers", args.workers, "--strategies", args.strategies,
         "--budget", args.budget, "--out", path, "--json", "--quiet"])


def verify(args, path, kept):
    found = run([args.lockstep, "predict", "verify", path, "--repeats", str(args.repeats), "--json", "--quiet"])
    kept.write_text(json.dumps(found["verified"], indent=1) + "\n")


def rows(out):
    for kept in sorted(out.glob("*-verified.json")):
        for row in json.loads(kept.read_text()):
            if not row.get("error"):
                yield kept.name.removesuffix("-verified.json"), row


def table(out):
    print("| case | row | predicted ms | measured ms | runs | error | naive | Amdahl | inside | cores taken |")
    print("|---|---|---:|---:|---|---:|---:|---:|---|---:|")
    all_errors, inside = {"lockstep": [], "naive": [], "Amdahl": []}, []
    for case, row in rows(out):
        got, step = row["measured_ms"], row["step_ms"]
        errors = {"lockstep": step["median"] / got - 1, "naive": row["naive_ms"] / got - 1,
                  "Amdahl": row["amdahl_ms"] / got - 1}
        for name, value in errors.items():
            all_errors[name].append(abs(value))
        inside.append(row["inside"])
        print(f"| {case} | {row['row'].split(' on ')[0]} | {step['median']:.4g} ({step['low']:.4g} to "
              f"{step['high']:.4g}) | {got:.4g} | {' '.join(f'{v:.4g}' for v in row['runs_ms'])} | "
              + " | ".join(f"{100 * v:+.1f} %" for v in errors.values())
              + f" | {'yes' if row['inside'] else 'no'} | {100 * row['cores_taken']:.0f} % |")
    if not inside:
        sys.exit(f"nothing was verified in {out}")
    print(f"\nWithin their 90 % intervals: {sum(inside)} of {len(inside)} ({100 * sum(inside) / len(inside):.0f} %).\n")
    print("| formula | median error | 90th percentile | greatest |\n|---|---:|---:|---:|")
    for name, values in all_errors.items():
        values.sort()
        print(f"| {name} | {100 * statistics.median(values):.1f} % | "
              f"{100 * values[min(len(values) - 1, int(0.9 * len(values)))]:.1f} % | {100 * values[-1]:.1f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lockstep", default="lockstep", help="program")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results/predict/runs"), help="folder")
    parser.add_argument("--models", default="lenet,vgg11,bert-mini")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--workers", default="3,4")
    parser.add_argument("--strategies", default=STRATEGIES)
    parser.add_argument("--budget", default="45s", help="of each calibration")
    parser.add_argument("--repeats", type=int, default=2, help="rounds of each verification")
    parser.add_argument("--again", type=int, default=1, help="verifications of each prediction")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    if not args.table:
        for network in args.networks.split(","):  # the fast ones first
            for model in args.models.split(","):
                path = args.out / f"{model}-{network}.json"
                if not path.exists():
                    freeze(args, model, network, path)
                for number in range(args.again):
                    kept = args.out / f"{model}-{network}-{number + 1}-verified.json"
                    if not kept.exists():
                        verify(args, path, kept)
    table(args.out)


if __name__ == "__main__":
    main()
