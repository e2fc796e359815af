#!/usr/bin/env python3
"""Fuzzes targets until each has had MINUTES, in pieces of five minutes, and adds each piece to runs.jsonl.

    results/fuzzing/fuzz.py MINUTES [--at-once 2] [--only REGEX]

A piece is one process of one worker at idle priority. What counts is the smaller of its time and its processor time, so that a
busy machine does not shorten it. Rows with "from" were not made so: that file says how. With --table the tally of runs.jsonl is printed and nothing runs. A target that found something
ends the run with status 1; the input lies in testdata/fuzz of its package. SIGTERM drops the pieces at work.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
RUNS = HERE / "runs.jsonl"
PIECE = 300
BUILDING = threading.Lock()


def targets():
    """All fuzz targets as (package folder, name)."""
    found = []
    for path in ROOT.rglob("*_test.go"):
        if "vendor" not in path.parts:
            for name in re.findall(r"^func (Fuzz\w+)\(", path.read_text(), re.M):
                found.append((str(path.parent.relative_to(ROOT)), name))
    return sorted(found)


def tally():
    """Seconds and inputs of each target so far."""
    done = {}
    for line in RUNS.read_text().splitlines() if RUNS.exists() else []:
        row = json.loads(line)
        seconds, inputs = done.get((row["package"], row["target"]), (0, 0))
        done[row["package"], row["target"]] = seconds + row["seconds"], inputs + row["inputs"]
    return done


def build(package, folder):
    """The package's test binary with the coverage that fuzzing follows."""
    binary = folder / package.replace("/", "_")
    with BUILDING:
        if not binary.exists():
            subprocess.run(["go", "test", "-c", "-fuzz", "Fuzz", "-o", binary, "./" + package], cwd=ROOT, check=True)
    return binary


def piece(package, target, folder, seconds):
    """Fuzzes for so long; the row of runs.jsonl, and what was printed if something was found."""
    cache = pathlib.Path(subprocess.check_output(["go", "env", "GOCACHE"], text=True).strip()) / "fuzz/lockstep" / package
    command = ["nice", "-n", "19", build(package, folder), "-test.run", "^$", "-test.fuzz", f"^{target}$", "-test.parallel", "1",
               "-test.fuzztime", f"{seconds}s", "-test.fuzzminimizetime", "100x", "-test.fuzzcachedir", cache]
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, cwd=ROOT / package, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        said = output.read()
    took, used = time.monotonic() - start, usage.ru_utime + usage.ru_stime
    inputs = [int(n) for n in re.findall(r"execs: (\d+)", said)]
    row = {"package": package, "target": target, "seconds": round(min(took, used)), "inputs": max(inputs, default=0),
           "date": time.strftime("%Y-%m-%d")}
    # On a busy machine Go's fuzzer takes the end of its own time for a failure, without an input that fails.
    is_end = re.search(r"^\s+context deadline exceeded$", said, re.M) and not re.search("Failing input|seed#", said)
    failed = process.returncode and not is_end
    return row, said + f"status {process.returncode}" if failed else ""


def table(minutes):
    done = tally()
    print("| target | minutes | inputs |\n|---|--:|--:|")
    for package, target in targets():
        seconds, inputs = done.get((package, target), (0, 0))
        print(f"| `{package}` {target} | {seconds / 60:.0f} | {f'{inputs:,}' if inputs else ''} |")
    enough = sum(done.get(t, (0, 0))[0] >= 60 * minutes for t in targets())
    print(f"\n{enough} of {len(targets())} targets had {minutes} minutes.")


def fuzz(minutes, at_once, wanted):
    done, found = tally(), False
    jobs = [t for t in targets() if re.search(wanted, "/".join(t))]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(at_once) as pool:

        def whole(job):
            """One target until it has had its minutes."""
            seconds = done.get(job, (0, 0))[0]
            while seconds < 60 * minutes:
                row, said = piece(*job, pathlib.Path(folder), PIECE)
                if said:
                    return job, said
                with RUNS.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                seconds += row["seconds"]
            return job, ""

        for job, said in pool.map(whole, jobs):
            if said:
                found = True
                print(*job, said, sep="\n", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("minutes", type=float)
    arguments.add_argument("--at-once", type=int, default=2)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--table", action="store_true")
    given = arguments.parse_args()
    if given.table:
        table(given.minutes)
        sys.exit(0)
    if os.getpgrp() != os.getpid():
        os.setpgrp()
    signal.signal(signal.SIGTERM, lambda *_: os.killpg(0, signal.SIGKILL))
    sys.exit(fuzz(given.minutes, given.at_once, given.only))
