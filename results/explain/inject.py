#!/usr/bin/env python3
"""Inject causes of known kind and size, ask lockstep explain for them, and score its answers.

    results/explain/inject.py --binary bin/lockstep                # the cases that cases.jsonl has not yet
    results/explain/inject.py --binary bin/lockstep --pairs        # pairs of equal rows: a cause named is a wrong one
    results/explain/inject.py --binary bin/lockstep --only 3 --keep /tmp/case
    results/explain/inject.py --table                              # what was found so far

A case draws a kind of cause, a model, a size and where the workers are, by --seed and its number. Side A is
without the cause, B with it: two rows of one benchmark that differ in a condition or a setting or, where a
program takes a core or the memory's bandwidth, two copies of one row, with the program beside the runs of the
second. Then explain A B --json is asked, and its answer held against what was done:

  right    the culprit is one of the terms that the kind is called by; or none, where B - A is below 5 % of a step
  truth    the median of B - A by the raw steps of all rounds that the answer is about: those of the benchmark
           and, unless the difference was passing, those that explain made
  size     what is claimed of this kind (culprit_ms; 0 if no cause of it is named) is within 5 % of B's step of
           the truth, or its interval holds it
  columns  the same of the terms of the kind, which no run without the cause has shaped
  sums     terms and residual are the difference, and the residual is within the interval of the difference

Lab hosts want root. Hold the machine still: flock -w 900 /tmp/heavy.lock results/explain/inject.py ...
"""
import argparse
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = 40

# The terms by which explain may call each kind.
KINDS = {
    "delay": ["straggler"],  # a worker waits in every step
    "throttle": ["straggler"],  # a worker computes more slowly
    "rate": ["bandwidth"],  # links of the lab
    "latency": ["latency"],
    "loader": ["data"],
    "core": ["cores"],  # a program that computes beside the workers, on one core
    "memory": ["memory"],  # a program that copies, beside one worker
    "shards": ["imbalance", "straggler"],  # that cannot be divided equally
    "codec": ["codec"],  # a wire that takes long to write
    "checkpoint": ["checkpoint"],  # after every step
}

# Models with batches small enough for many steps: batch, data, steps of a run of about 3 s on two cores.
MODELS = {"lenet": (64, "glyphs", []), "vgg11": (8, "synthetic", []),
          "bert-mini": (8, "synthetic", ["--sequence", "32"])}

HOG = "while True: pass"
COPY = "a = bytearray(96 << 20); b = memoryview(bytearray(96 << 20))\nwhile True: b[:] = a"


def draw(seed, number):
    """Returns case number of a seed: kind, model, place, and size as a share of the step or as it is."""
    kinds = [k for k in KINDS for _ in range(CASES // len(KINDS))]
    random.Random(seed).shuffle(kinds)
    r = random.Random(f"{seed} {number}")
    kind = kinds[number % CASES]
    model = r.choice(list(MODELS))
    where = "processes"
    size = r.uniform(0.15, 1.0)  # of a step
    if kind in ("delay", "throttle", "shards") and r.random() < 0.35:
        where = "lab"
    if kind == "rate":
        where, size = "lab", r.choice([100, 150, 200, 300, 500])  # Mbit/s
    elif kind == "latency":
        where, size = "lab", r.choice([1, 2, 5, 10, 30])  # ms
    elif kind == "throttle":
        size = r.uniform(1.25, 2.5)  # times as long
    elif kind == "codec":
        size = r.choice(["zstd", "deflate", "top-k", "powersgd-4"])
    elif kind == "shards":
        size = r.choice([3, 5])
        model = r.choice(["lenet", "bert-mini"])  # with vgg11 fewer shards save more than unequal ones cost
    elif kind == "memory":
        model = r.choice(["vgg11", "bert-mini"])  # lenet stays in the caches
        size = 1
    elif kind in ("core", "checkpoint"):
        size = 1
    return {"case": number, "kind": kind, "model": model, "where": where, "size": size, "rank": r.randrange(2)}


class Failed(Exception):
    """A command that did not end well."""


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise Failed(" ".join(command) + f": status {done.returncode}: " + done.stderr[-1500:])
    return done.stdout


def common(model, workers=2):
    batch, data, more = MODELS[model]
    return ["--model", model, "--data", data, "--batch", str(batch * workers // 2), "--threads", "1",
            "--lr", "0.001", "--limit-test", "0", *more]


def step_of(ranks):
    """Returns the mean milliseconds of a step of all ranks after the first two, with checkpoints before it."""
    means = []
    for rank in ranks:
        s = rank["steps"]
        before = s.get("checkpoint_seconds") or [0] * len(s["seconds"])
        means.append(statistics.mean(a + b for a, b in zip(s["seconds"][2:], before[2:])))
    return 1e3 * statistics.mean(means)


def probe(a, model):
    """Returns the milliseconds of a step of two processes."""
    out = tempfile.mkdtemp()
    try:
        text = run([a.binary, "train", "--quiet", "--json", *common(model), "--workers", "2", "--steps", "12",
                    "--out", out + "/run"])
        return json.loads(text)["step_ms"]["p10"]  # others may use the machine
    finally:
        shutil.rmtree(out)


def least(c):
    """Returns the steps of a run at least: of short steps means want many."""
    return 300 if c["model"] == "lenet" and c.get("slower", 1) < 4 else 12


def bench(a, c, folder, step, rows, workers=2, rounds=None):
    """Runs two rows in rounds: with conditions or with strategies. Returns the sides and their steps by round."""
    steps = max(least(c), min(400, int(1e3 * a.seconds / (step * c.get("slower", 1.5)))))
    text = [a.binary, "bench", "--quiet", "--no-one-process", *common(c["model"], workers), "--workers",
            str(workers), "--steps", str(steps), "--repeats", str(rounds or a.rounds), "--out", folder + "/bench", *rows]
    run(text)
    c["command"] = " ".join(text[1:])
    return [f"{folder}/bench#1", f"{folder}/bench#2"], rounds_of(folder + "/bench")


def rounds_of(folder):
    """Returns the steps of the first two rows of a benchmark, by round; none where there is no benchmark."""
    if not os.path.exists(folder + "/results.json"):
        return [{}, {}]
    results = json.load(open(folder + "/results.json"))
    return [{(folder, r["round"]): step_of(r["ranks"]) for r in row["runs"] or [] if not r.get("error")}
            for row in results["rows"][:2]]


class Beside:
    """Runs a program on a core while runs of the second row of a benchmark do, and stops it between them."""

    def __init__(self, folder, program, core):
        self.runs, self.over = folder + "/bench/runs", threading.Event()
        self.program = subprocess.Popen([sys.executable, "-c", program],
                                        preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        self.program.send_signal(signal.SIGSTOP)
        self.thread = threading.Thread(target=self.follow)

    def is_wanted(self):
        """Reports whether a run of the second row has begun and not ended."""
        names = os.listdir(self.runs) if os.path.isdir(self.runs) else []
        return any(n.split("-")[1] == "02" and not os.path.exists(f"{self.runs}/{n}/summary.json") for n in names)

    def follow(self):
        was = False
        while not self.over.wait(0.02):
            now = self.is_wanted()
            if now != was:
                self.program.send_signal(signal.SIGCONT if now else signal.SIGSTOP)
            was = now

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        self.program.kill()
        self.program.wait()


def beside(a, c, folder, step, workers, program):
    """Runs two copies of a row, the second beside a program on the core of the case's rank."""
    c["beside"] = program
    strategy = "ddp" if workers > 1 else "single"
    with Beside(folder, program, c["rank"]):
        return bench(a, c, folder, step, ["--strategies", strategy, "--copies", "2"], workers, 2 * a.rounds + 1)


def make(a, c, folder):
    """Makes both sides of a case and returns their names and their steps by round."""
    step = probe(a, c["model"])
    kind, size, base = c["kind"], c["size"], "equal"
    if c["where"] == "lab":
        base = "rate=2gbit"
        step *= 1.5
    plus = lambda more: base + "+" + more if base != "equal" else more
    conditions = lambda x, y: ["--strategies", "ddp", "--conditions", f"{x},{y}"]
    if kind == "delay":
        c["delay_ms"] = max(1, round(size * max(step, 8)))
        c["slower"] = 1 + c["delay_ms"] / step
        return bench(a, c, folder, step, conditions(base, plus(f"slow-worker={c['rank']}:{c['delay_ms']}ms")))
    if kind == "throttle":
        c["slower"] = size
        return bench(a, c, folder, step, conditions(base, plus(f"slow-worker={c['rank']}:{size:.2f}")))
    if kind == "rate":
        return bench(a, c, folder, 2 * step, conditions("rate=2gbit", f"rate={size}mbit"))
    if kind == "latency":
        c["slower"] = 1 + size / step
        return bench(a, c, folder, 2 * step, conditions("rate=1gbit+delay=100us", f"rate=1gbit+delay={size}ms"))
    if kind == "loader":
        c["slower"] = 1 + size
        return bench(a, c, folder, step, conditions("equal", f"slow-loader={(1 + size) * step:.1f}ms"))
    if kind == "codec":
        return bench(a, c, folder, step, ["--strategies", f"ddp,ddp:wire={size}", "--conditions", base])
    if kind == "shards":
        return bench(a, c, folder, step, ["--strategies", f"ddp:shards={size + 1},ddp:shards={size}",
                                          "--conditions", base])
    if kind == "checkpoint":
        return bench(a, c, folder, step, ["--strategies", "ddp", "--checkpoints", "off,1"])
    if kind == "core":
        return beside(a, c, folder, step, 2, HOG)
    return beside(a, c, folder, step, 1, COPY)


def explain(a, c, names, folder):
    # A step of a large model over a slow link takes over a second: interventions want the time of some such steps.
    budget = "60s" if c.get("kind") == "rate" and c["model"] != "lenet" else a.budget
    text = run([a.binary, "explain", *names, "--quiet", "--json", "--budget", budget, "--out", folder + "/why"])
    return json.loads(text)


def score(c, recorded, again, found):
    """Adds to c what was found and what is right about it."""
    sides = recorded if found["passing"] else [x | y for x, y in zip(recorded, again)]
    shared = [r for r in sides[0] if r in sides[1]]
    if not shared:
        raise Failed("no round in which both sides ended")
    c["steps_ms"] = [[round(side[r], 4) for r in shared] for side in sides]
    c["truth_ms"] = round(statistics.median(sides[1][r] - sides[0][r] for r in shared), 4)
    step = statistics.median(sides[1][r] for r in shared)
    for name in ("difference_ms", "difference_interval_ms", "recorded_ms", "again_ms", "residual_ms", "culprit",
                 "culprit_ms", "culprit_interval_ms", "culprit_by", "passing", "told_apart", "sentence"):
        c[name] = found.get(name)
    c["terms"] = [{k: t.get(k) for k in ("name", "rank", "ms", "low", "high", "confirmed")} for t in found["terms"]]
    if "kind" not in c:
        c["right"] = not c["culprit"]
        return
    holds = lambda ms, low, high: abs(ms - c["truth_ms"]) <= 0.05 * step or low <= c["truth_ms"] <= high
    is_named = c["culprit"] in KINDS[c["kind"]]
    c["right"] = is_named or abs(c["truth_ms"]) < 0.05 * step and not c["culprit"]
    c["size_ok"] = holds(c["culprit_ms"], *c["culprit_interval_ms"]) if is_named else holds(0, 0, 0)
    accepted = [t for t in found["terms"] if t["name"] in KINDS[c["kind"]]]
    c["columns_ms"], low, high = (sum(t[k] for t in accepted) for k in ("ms", "low", "high"))
    c["columns_ok"] = holds(c["columns_ms"], low, high)
    whole = sum(t["ms"] for t in found["terms"]) + found["residual_ms"]
    ends = found["difference_interval_ms"]
    c["sums_ok"] = abs(whole - found["difference_ms"]) <= 1e-6 + 1e-3 * step and \
        abs(found["residual_ms"]) <= max(ends[1] - ends[0], 0) / 2 + 0.01 * step


def one(a, c):
    """Makes, explains and scores a case, or a pair of equal rows, and returns its line."""
    began = time.time()
    folder = a.keep or tempfile.mkdtemp(prefix="inject-")
    os.makedirs(folder, exist_ok=True)
    c |= {"seed": a.seed, "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "load": os.getloadavg()[0],
          "version": run([a.binary, "version"]).splitlines()[0]}
    try:
        if "kind" in c:
            names, sides = make(a, c, folder)
        else:
            rows = ["--strategies", "ddp", "--copies", "2"]
            if c["where"] == "lab":
                rows += ["--conditions", "rate=2gbit"]
            names, sides = bench(a, c, folder, probe(a, c["model"]), rows)
        found = explain(a, c, names, folder)
        score(c, sides, rounds_of(folder + "/why"), found)
    except (Failed, KeyError, json.JSONDecodeError) as e:
        c["error"] = f"{type(e).__name__}: {e}"
    finally:
        if not a.keep:
            shutil.rmtree(folder, ignore_errors=True)
    c["seconds"] = round(time.time() - began, 1)
    return c


def table(path):
    """Prints the scores by case and by kind."""
    cases = [json.loads(line) for line in open(path)] if os.path.exists(path) else []
    mark = lambda c, name: {True: "yes", False: "NO", None: "-"}[c.get(name)]
    for c in cases:
        what = f"{c['kind']} {c['size'] if isinstance(c['size'], str) else format(c['size'], '.3g')}" \
            if "kind" in c else "equal"
        if "error" in c:
            print(f"{c['case']:3} {what:18} {c['model']:10} {c['where']:10} {c['error'][:90]}")
            continue
        print(f"{c['case']:3} {what:18} {c['model']:10} {c['where']:10} truth {c['truth_ms']:8.2f} ms  "
              f"claimed {c['culprit_ms']:8.2f} ms  columns {c.get('columns_ms', 0):8.2f} ms  "
              f"culprit {c['culprit'] or 'none':11} right {mark(c, 'right'):3} size {mark(c, 'size_ok'):3} "
              f"columns {mark(c, 'columns_ok'):3} sums {mark(c, 'sums_ok'):3} {c['seconds']:5.0f} s")
    for title, some in (("cases", [c for c in cases if "kind" in c]), ("equal pairs", [c for c in cases
                                                                                       if "kind" not in c])):
        good = lambda name: sum(bool(c.get(name)) for c in some)
        if some and title == "cases":
            print(f"{len(some)} cases: culprit right in {good('right')}, size in {good('size_ok')}, by columns "
                  f"alone in {good('columns_ok')}, sums in {good('sums_ok')}; {sum('error' in c for c in some)} failed")
        elif some:
            print(f"{len(some)} equal pairs: a cause named in {sum(bool(c.get('culprit')) for c in some)}; "
                  f"{sum('error' in c for c in some)} failed")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--binary", default="bin/lockstep")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--cases", default=os.path.join(HERE, "cases.jsonl"), help="file of the results, one a line")
    p.add_argument("--only", type=int, action="append", help="make this case, though it may be there; repeat")
    p.add_argument("--kind", choices=KINDS, help="only cases of a kind")
    p.add_argument("--pairs", action="store_true", help="pairs of equal rows")
    p.add_argument("--number", type=int, default=CASES, help="of cases or pairs")
    p.add_argument("--rounds", type=int, default=3, help="of both sides")
    p.add_argument("--seconds", type=float, default=1.2, help="of steps of each run")
    p.add_argument("--budget", default="18s", help="of explain")
    p.add_argument("--keep", help="folder in which the runs stay")
    p.add_argument("--table", action="store_true", help="print what was found")
    a = p.parse_args()
    if a.table:
        return table(a.cases)
    a.binary = os.path.abspath(a.binary)
    there = set()
    if os.path.exists(a.cases):
        for line in open(a.cases):
            c = json.loads(line)
            there.add((c["seed"], c["case"], "kind" in c))
    for number in a.only or range(a.number):
        if not a.only and (a.seed, number, not a.pairs) in there:
            continue
        c = draw(a.seed, number)
        if a.kind and c["kind"] != a.kind:
            continue
        if a.pairs:
            r = random.Random(f"{a.seed} pair {number}")
            c = {"case": number, "model": r.choice(list(MODELS)),
                 "where": r.choice(["processes", "processes", "lab"])}
        c = one(a, c)
        with open(a.cases, "a") as f:
            f.write(json.dumps(c) + "\n")
        print(json.dumps({k: v for k, v in c.items() if k not in ("terms", "command", "steps_ms")}), flush=True)


if __name__ == "__main__":
    main()
