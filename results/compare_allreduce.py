#!/usr/bin/env python3
"""Time float32 all-reduce in Lockstep, Open MPI and Gloo, in turn.

    results/compare_allreduce.py --ranks 2 --bytes 4KiB,1MiB,64MiB --rounds 5

results/peers has allreduce.py (Gloo) and mpi_allreduce.c, which print a JSON line per size with sec_per_iter, a median.
Open MPI runs once over shared memory and once over TCP on the loopback; Gloo is TCP. Each round runs
all of them; a last line per size has medians of the rounds.
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
parser.add_argument("--ranks", type=int, default=2)
parser.add_argument("--bytes", default="4KiB,1MiB,64MiB")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--seconds", type=float, default=0.5, help="theirs, per size")
parser.add_argument("--repeats", type=int, default=30, help="our samples per size")
parser.add_argument("--binary", default="bin/lockstep")
parser.add_argument("--python", default=sys.executable, help="a Python that has torch")
parser.add_argument("--no-gloo", action="store_true")
a = parser.parse_args()
units = {"KiB": 1 << 10, "MiB": 1 << 20}
sizes = [int(text[:-3]) * units[text[-3:]] for text in a.bytes.split(",")]
most = max(max(sizes) >> 20, 1)


def lines(command, **options):
    done = subprocess.run(command, check=True, capture_output=True, **options)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")]
    return {row["bytes"]: row["sec_per_iter"] for row in rows}


def ours(link):
    command = [a.binary, "commbench", "--quiet", "--json", "--link", link, "--ranks", str(a.ranks),
               "--bytes", a.bytes, "--repeats", str(a.repeats)]
    done = subprocess.run(command, check=True, capture_output=True)
    return {row["bytes"]: row["seconds"]["median"] for row in json.loads(done.stdout)}


def mpi(program, transport):
    return lines(["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "btl", "self," + transport,
                  "-np", str(a.ranks), program, str(most), str(a.seconds)])


def gloo():
    return lines([a.python, "allreduce.py", "--world", str(a.ranks), "--max-mib", str(most),
                  "--seconds", str(a.seconds)], cwd=PEERS)


with tempfile.TemporaryDirectory() as folder:
    program = folder + "/mpi_allreduce"
    subprocess.run(["mpicc", "-O2", "-o", program, PEERS + "/mpi_allreduce.c"], check=True)
    runs = {"shm": lambda: ours("shm"), "mpi_shm": lambda: mpi(program, "vader"),
            "tcp": lambda: ours("tcp"), "mpi_tcp": lambda: mpi(program, "tcp")}
    if not a.no_gloo:
        runs["gloo"] = gloo
    rounds = []
    for number in range(a.rounds):
        rounds.append({name: run() for name, run in runs.items()})
        for size in sizes:
            row = {"ranks": a.ranks, "bytes": size, "round": number + 1}
            print(json.dumps(row | {n: round(t[size] * 1e6, 2) for n, t in rounds[-1].items()}), flush=True)
for size in sizes:
    row = {"ranks": a.ranks, "bytes": size, "unit": "us"}
    print(json.dumps(row | {n: round(statistics.median(r[n][size] for r in rounds) * 1e6, 2) for n in runs}))
