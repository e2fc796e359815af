"""Recomputes figures of a benchmark's report.md from its results.json, with NumPy and none of our code.

    python3 results/verify_page.py FOLDER...

A folder holds report.md beside results.json or results.json.gz. Figures are those of the tables Speed, Result and
traffic, Where a step goes, Loss of each rank and What each worker did, ours beside the reference figures, and those of
the answers to questions: steps with their 10th to 90th percentile, samples/s, totals, ratios, phases, losses,
accuracies of one seed, bytes, processors, memory. Status 1 if one does not follow, or if a folder has none. Not
recomputed, and counted as such: intervals, verdicts, guessed causes, rows of other programs and of workers that share steps.
"""
import gzip, json, os, re, sys
import numpy as np

LOOSE = {"ps-async", "local-sgd", "diloco"}


def column(values):
    return np.array([np.nan if v is None or isinstance(v, str) else v for v in values], float)


def taken(run):
    t = run.get("taken") or run.get("cores_taken") or {}
    return t.get("stolen", 0) + t.get("others", 0)


def successful(row):
    return sorted((r for r in row["runs"] or [] if not r.get("error")), key=lambda r: r["round"])


def counted(row):
    """The runs whose times count."""
    good = successful(row)
    return [r for r in good if taken(r) < 0.05] or good


def steps(run):
    """From when the last rank has finished a step until the last has finished the next."""
    ranks = [column(r["steps"]["seconds"]) for r in run["ranks"]]
    out, ahead = [], np.zeros(len(ranks))
    for at in range(max(map(len, ranks))):
        have = [at < len(r) for r in ranks]
        before = ahead[have].max()
        ahead[have] += [r[at] for r in ranks if at < len(r)]
        out.append(ahead[have].max() - before)
        ahead -= ahead[have].max()
    return np.array(out)


def is_loose(row):
    return row["setting"]["strategy"] in LOOSE and row["setting"]["workers"] > 1


def rate(row, run):
    """The samples of all steps after the first over the sum of their times; of workers that share steps all."""
    if is_loose(row):
        return row["setting"]["batch"] / step_of(row, run)
    return sum(run["ranks"][0]["steps"]["samples"][1:]) / steps(run)[1:].sum()


def step_of(row, run):
    """The median step after the first; of workers that share steps the mean."""
    if is_loose(row):
        return run["train_seconds"] * row["setting"]["batch"] / run["samples"]
    return np.median(steps(run)[1:])


PHASES = ["forward", "backward", "sync_exposed", "optimizer", "data", "core_wait", "other"]


def waits(s, threads):
    """Seconds without a core of a rank by step, in forward and backward passes and in the exchange."""
    n, of = len(s["seconds"]), lambda values: np.pad(column(values or []), (0, n - len(values or [])))
    delayed, late, before, cpu, usage = (of(s.get(name)) for name in (
        "delayed_seconds", "exchange_delayed_seconds", "gradient_cpu_seconds", "cpu_seconds", "usage_seconds"))
    forward, backward, exchange, optimizer = (of(s["phases"].get(name)) for name in PHASES[:4])
    if not s.get("gradient_cpu_seconds"):  # all parts alike
        part = min(1, max(0, usage.sum() * threads - cpu.sum()) / max(delayed.sum(), 1e-12)) if usage.sum() > 0 else 1
        share = np.minimum(1, part * delayed / (threads * column(s["seconds"])))
        return share * (forward + backward), share * exchange
    computing = np.maximum(0, forward + backward - before / threads)
    exchange = np.maximum(0, exchange - np.maximum(0, cpu - before - threads * optimizer))
    limited = lambda v, most: v * min(1, most / max(v.sum(), 1e-12))
    return limited(computing, max(0, delayed.sum() - late.sum()) / threads), limited(exchange, late.sum())


def spent(row, runs):
    """Seconds by phase of the ranks of some runs, over the steps from the 10th to the 90th percentile.

    What ranks had no core for is taken out of its phases. Workers that meet wait for one that waits, too: with cores
    they would leave when the slowest has computed and the exchange of the one that waits least in it is done. None
    loses more than all of them waited.
    """
    sums, threads = np.zeros(len(PHASES)), max(1, row["setting"]["threads"])
    alone = is_loose(row) or row["setting"]["workers"] == 1
    for run in runs:
        times = steps(run)
        lo, hi = np.quantile(times[1:], [.1, .9])
        phases = np.zeros((len(times), len(run["ranks"]), len(PHASES)))
        starved, has = np.zeros((2,) + phases.shape[:2]), np.zeros(phases.shape[:2], bool)
        for i, rank in enumerate(run["ranks"]):
            s = rank["steps"]
            for name, values in s["phases"].items():
                phases[:len(values), i, PHASES.index(name) if name in PHASES else -1] += column(values)
            has[:len(s["seconds"]), i] = True
            starved[:, :len(s["seconds"]), i] = waits(s, threads)
        for at in np.flatnonzero((times >= lo) & (times <= hi)):
            p, (computing, exchange) = phases[at][has[at]], starved[:, at, has[at]]
            if at > 0 and (computing + exchange).any():
                p[:, :2] *= 1 - (computing / np.maximum(p[:, 0] + p[:, 1], 1e-12))[:, None]
                own, rest, wait = p.sum(1) - p[:, 2], p[:, 2] + computing, computing + exchange
                if not alone:
                    most = np.minimum(rest, wait.sum())
                    wait = np.clip(own + rest - own.max() - (p[:, 2] - exchange).min(), 0, most)
                p[:, 2], p[:, 5] = rest - wait, wait
            sums += (at > 0) * p.sum(0)
    return sums


def follows(text, value):
    """Whether value, rounded as text is, gives text."""
    m = re.match(r"-?\d+(\.\d+)?", text)
    if not m:
        return None
    places = len(m.group(1) or ".") - 1
    scale = 10.0 ** -places
    if places == 0 and len(m.group().strip("0")) < len(m.group()):
        scale = 10.0 ** (len(m.group()) - max(3, len(m.group().rstrip("0"))))
    return abs(float(m.group()) - value) <= 0.5 * max(scale, 1) * (1 if places == 0 else scale) + 1e-9 * abs(value)


def expected(row):
    runs = counted(row)
    first, medians = successful(row)[0], [np.median(steps(r)[1:]) for r in runs]
    every = np.concatenate([steps(r)[1:] for r in runs])
    step = np.median(medians)
    out = {"step": 1e3 * step, "p10": 1e3 * np.quantile(every, .1), "p90": 1e3 * np.quantile(every, .9),
           "samples/s": np.median([rate(row, r) for r in runs]),
           "total": np.median([r["seconds"] for r in runs])}
    loss = [column(r["steps"]["loss"]) for r in first["ranks"]]
    shortest = min(map(len, loss))
    out["loss"] = np.nanmean([l[:shortest] for l in loss], 0)
    out["accuracy"] = 100 * first["test_accuracy"] if first.get("test_accuracy") is not None else None
    return out, first


UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9,
         "TB": 1e12}


def check_row(results, title, head, cells, row, tell):
    want, first = expected(row)
    at = {re.split(r"[, ]", h)[0]: i for i, h in reversed(list(enumerate(head)))}
    unit = {h.split(",")[0]: h.split(", ")[-1] for h in head}
    if title == "Speed":
        tell("step", cells[at["step"]], want["step"])
        if m := re.search(r"\(([\d.]+)–([\d.]+)\)", cells[at["step"]]):
            tell("10th percentile", m.group(1), want["p10"])
            tell("90th percentile", m.group(2), want["p90"])
        if m := re.match(r"([\d.]+)×", cells[at["speed-up"]] if "speed-up" in at else ""):
            tell("speed-up", m.group(1), value_of(results, "speedup", row))
        if m := re.match(r"([\d.]+) %", cells[at["efficiency"]] if "efficiency" in at else ""):
            tell("efficiency", m.group(1), 100 * value_of(results, "efficiency", row))
        for name in ("samples/s", "total"):
            if name in at:
                tell(name, cells[at[name]], want[name])
    elif title == "Result and traffic":
        if "loss" in at:
            tell("last loss", cells[at["loss"]], want["loss"][-1])
        if "accuracy" in at and want["accuracy"] is not None and "train" in cells[at["accuracy"]]:
            tell("accuracy", cells[at["accuracy"]], want["accuracy"])
        if "sent by all" in unit and row["setting"]["workers"] > 1:
            i = [h.split(",")[0] for h in head].index("sent by all")
            tell("sent", cells[i], first["bytes_sent"] / UNITS[unit["sent by all"]])
    elif title == "Where a step goes":
        parts = spent(row, counted(row))
        parts *= want["step"] / parts.sum()
        names = {"exchange": "sync_exposed", "exposed communication": "sync_exposed",  # of older pages
                 "waiting for cores": "core_wait"}
        for h, text in zip(head, cells):
            if (name := names.get(h.split(",")[0], h.split(",")[0])) in PHASES:
                tell(name + " of a step", text, parts[PHASES.index(name)])
    elif title == "Loss of each rank":
        i = (int(cells[at["iteration"]]) - 1) // max(1, row.get("every", 0))
        if row["setting"]["strategy"] != "none":
            tell("loss", cells[at["all"]], want["loss"][i])
        for j, h in enumerate(head):
            if (m := re.match(r"rank (\d+)", h)) and int(m.group(1)) < len(first["ranks"]):
                own = column(first["ranks"][int(m.group(1))]["steps"]["own_loss"])
                if i < len(own):
                    tell("own loss", cells[j], own[i])
    elif title == "What each worker did":  # of one worker, or from the least to the most of a row
        rank = cells[at["rank"]]
        all_steps = [r["steps"] for r in first["ranks"]]
        if "–" not in rank:
            all_steps = [all_steps[int(rank)]]
        for name, figure in [("step", lambda s: 1e3 * np.median(column(s["seconds"])[1:])),
                             ("loss", lambda s: np.nanmean(column(s["own_loss"]))),
                             ("processors", lambda s: sum(s["cpu_seconds"]) / sum(s["usage_seconds"])),
                             ("memory", lambda s: max(s["rss_bytes"]) / UNITS[unit["memory"]])]:
            texts, values = cells[at[name]].split("–"), [figure(s) for s in all_steps]
            tell(name + " of a worker", texts[0], min(values))
            tell(name + " of a worker", texts[-1], max(values))


def each_rank(run, name):
    return [column(r["steps"][name]) for r in run["ranks"]]


OURS = {  # of a run, in seconds, bytes and parts of 1; the rows of a reference have the median over the runs
    "total": lambda row, r: r["seconds"],
    "cost": lambda row, r: r["seconds"] / 3600 * cores(row) * 0.34 / 8,
    "epoch": lambda row, r: np.mean(r["epoch_seconds"]) if r.get("epoch_seconds") else np.nan,
    "step": step_of,
    "batches": lambda row, r: row["setting"]["workers"] * rate(row, r) / row["setting"]["batch"],
    "rate": rate,
    "accuracy": lambda row, r: np.nan if r.get("test_accuracy") is None else r["test_accuracy"],
    "best": lambda row, r: max(e["accuracy"] for e in r["evaluations"]) if r.get("evaluations") else np.nan,
    "memory": lambda row, r: max(np.nanmax(v) for v in each_rank(r, "rss_bytes")),
    "sent": lambda row, r: r["bytes_sent"] / r["seconds"],
    "compression": lambda row, r: r["bytes_vectors"] / r["bytes_sent"] if r.get("bytes_vectors") else np.nan,
    "evenness": lambda row, r: (lambda c: min(c) / max(c))(
        [sum(np.mean(column(x["steps"]["phases"].get(p, [0]))) for p in ("forward", "backward")) for x in r["ranks"]]),
    "hidden": lambda row, r: np.mean(column([x.get("hidden_seconds") for x in r["ranks"]])),
    "checkpoints": lambda row, r: (r.get("checkpoints") or {}).get("exposed_seconds", 0),
    "network": lambda row, r: share(row, r, "sync_exposed") * r["train_seconds"],
    "exposed": lambda row, r: share(row, r, "sync_exposed") * step_of(row, r),
    "packing": lambda row, r: share(row, r, "sync_exposed") * np.divide(*(
        sum(np.nanmean(column(v)) for v in vs) for vs in (each_rank(r, "code_seconds"), [
            x["steps"]["phases"]["sync_exposed"] for x in r["ranks"]]))),
    "computing": lambda row, r: sum(share(row, r, p) for p in ("forward", "backward", "optimizer")),
    "busiest": lambda row, r: r.get("busiest_bytes", np.nan),
    "loss": lambda row, r: np.mean(np.concatenate([l[-((len(l) + 9) // 10):] for l in each_rank(r, "loss")])),
}
SCALES = {"%": 0.01, "MB": 1e6, "GB": 1e9, "MB/s": 1e6, "ms": 1e-3, **UNITS}


def share(row, run, phase):
    parts = spent(row, [run])
    return parts[PHASES.index(phase)] / parts.sum()


def cores(row):
    """The cores that a row keeps busy."""
    s = row["setting"]
    threads = s["workers"] * s["threads"] + s.get("servers", 0) * (s.get("server_place") == "apart")
    return min(threads, s.get("cores") or row["host_cores"])


def quantity(name):
    """What computes a quantity of a run; None if nothing here does."""
    if m := re.match(r"loss-at-(\d+)$", name):
        at = int(m[1]) - 1
        return lambda row, r: np.mean([l[at] if len(l) > at else np.nan for l in each_rank(r, "loss")])
    if name in PHASES:
        return lambda row, r: share(row, r, name)
    return OURS.get(name)


def ratio(name, row, other):
    """The median over rounds of a quantity of a row over that of another."""
    of = quantity(name)
    theirs = {r["round"]: r for r in counted(other)}
    values = [of(row, r) / of(other, theirs[r["round"]]) for r in counted(row) if r["round"] in theirs]
    return np.median(values) if values else np.nan


def alone_of(results, row):
    """The row of one worker that speed-ups of a row are over: with the fewest threads, without settings of its own."""
    s = [r for r in results["rows"] if group_of(r) == group_of(row) and r["setting"]["strategy"] == "single" and
         counted(r) and not r["setting"].get("peer")]
    return min(s, key=lambda r: (r["setting"]["threads"], r["setting"].get("options", "") != ""), default=None)


def group_of(row):
    s = row["setting"]
    return s["model"], s["data"], s["batch"], s.get("per_worker", 0), s.get("condition", "")


def value_of(results, name, row):
    """A quantity of a row: the median over its runs, of accuracies the mean over seeds, or what follows from steps."""
    if name in ("speedup", "efficiency", "serial"):
        if not (base := alone_of(results, row)):
            return np.nan
        times = ratio("step", base, row)
        n = row["setting"]["workers"]
        return {"speedup": times, "efficiency": times * cores(base) / cores(row),
                "serial": (n / times - 1) / (n - 1) if n > 1 else np.nan}[name]
    if not (of := quantity(name)):
        return None
    runs = successful(row) if name in ("loss", "accuracy", "best") else counted(row)
    values = [of(row, r) for r in runs]
    seeds = [r.get("seed") for r in runs]
    if name == "accuracy" and len(set(seeds)) > 1:
        values = [np.mean([v for v, s in zip(values, seeds) if s == seed]) for seed in set(seeds)]
        return np.mean(values)
    return np.median(values)


def accuracy_as(text, results, row):
    """The accuracy of a row: the median over its runs if a page has that, as older ones do."""
    old = np.median([OURS["accuracy"](row, r) for r in counted(row)])
    return old if follows(text, 100 * old) else value_of(results, "accuracy", row)


def check_answer(results, q, text, tell):
    row = chosen(results, q["of"])
    if q["quantity"] == "parameters" or not row or text.startswith("Not measured"):
        return
    if q["quantity"] in ("why", "balance"):
        check_where(results, row, text, tell)
        return
    text = " " + re.sub(r"^(Not decided|Not told apart|Not testable here|Likely not|Likely)( \([^)]*\))?:? ?", "", text)
    if q["quantity"] == "parts":
        check_parts(results, row, text.strip(), tell)
        return
    m = re.search(r" ([\d.]+) ?(\S*) in place of ([\d.]+) ?(\S+);", text)
    if q.get("by") and m:  # what the claim rests on stands first, of both rows, where times count
        for value, unit, of in [(m[1], m[2] or m[4], row), (m[3], m[4], chosen(results, q["over"][0]))]:
            tell(q["by"], value, value_of(results, q["by"], of) / SCALES.get(unit, 1))
        text = text[m.end():]
    if m := re.search(r"; accuracy ([\d.]+) % in place of ([\d.]+) %", text):  # of rows that reach other results
        than = [o for s in q["over"] if (o := chosen(results, s))]
        tell("accuracy", m[1], 100 * accuracy_as(m[1], results, row))
        tell("accuracy", m[2], 100 * min((accuracy_as(m[2], results, o) for o in than),
                                         key=lambda v: abs(100 * v - float(m[2]))))
    longer = r"[t,] (compute|exchange|waiting for cores|rest) ([\d.]+) ms in place of ([\d.]+) ms"
    for name, value, than in re.findall(longer, text):
        for figure, of in (value, row), (than, chosen(results, q["over"][0])):
            tell(name, figure, 1e3 * value_of(results, "step", of) * parts_of(of)[name])
    if m := re.search(r"\(([\d.]+) % packing", text):
        tell("packing", m[1], 100 * value_of(results, "packing", row))
    text = re.sub(r" after \d+ steps", "", text.split("; ")[0])
    if m := re.search(r" ([\d.]+)×(?: \([^)]*\))? (?:that of|the|as fast) ", text + " "):
        values = [ratio(q["quantity"], row, o) for s in q["over"] if (o := chosen(results, s))]
        right = [v for v in values if follows(m[1], v)]
        tell("ratio of " + q["quantity"], m[1], (right or values)[0])
    elif m := re.search(r" (<?[\d.]+) ?(%|ms|×|[kKMGT]?i?B|)(?=,? |\.?$|/)", text):
        tell(q["quantity"], m[1], value_of(results, q["quantity"], row) / SCALES.get(m[2], 1))


def parts_of(row):
    """What the median step of a row goes into, as shares: compute, exchange, waiting for cores, rest."""
    parts = spent(row, counted(row))
    parts /= parts.sum()
    return {"compute": parts[[0, 1, 3]].sum(), "exchange": parts[2], "waiting for cores": parts[5],
            "rest": parts[[4, 6]].sum()}


def step_without(row):
    """The step of a row without a cause: of workers apart the mean of what each takes, without the least and most."""
    if row["setting"]["strategy"] != "none":
        return np.median([step_of(row, r) for r in counted(row)])
    typical = []
    for run in counted(row):
        times = steps(run)
        lo, hi = np.quantile(times[1:], [.1, .9])
        at = np.flatnonzero((times >= lo) & (times <= hi) & (np.arange(len(times)) > 0))
        for rank in run["ranks"]:
            typical += sum(column(v) for v in rank["steps"]["phases"].values())[at].tolist()
    return np.mean(typical)


def check_where(results, row, text, tell):
    """Steps and their parts in ms, of the row of the group whose step is nearest. What explain guesses is left out."""
    group = [r for r in results["rows"] if group_of(r) == group_of(row) and counted(r) and not r["setting"].get("peer")]

    def check(step, parts):
        def miss(r):  # several rows may have a step that rounds to this
            own = 1e3 * value_of(results, "step", r)
            away = sum(abs(own * parts_of(r)[name] - float(value)) for name, value in parts)
            return not follows(step, own), away, abs(own - float(step))

        of = min(group, key=miss)
        tell("step", step, 1e3 * value_of(results, "step", of))
        for name, value in parts:
            tell(name, value, 1e3 * value_of(results, "step", of) * parts_of(of)[name])

    names = "compute|exchange|waiting for cores|rest"
    for step, parts in re.findall(r"([\d.]+) ms in [^(;]*\(([^)]*)\)", text):  # of older pages
        check(step, re.findall(f"({names}) ([\\d.]+)", parts))
    base = alone_of(results, row)
    first = re.search(r"[Oo]f the (\S+) ms of compute", text)
    for saved, of, paid, times in re.findall(r"saves (\S+)(?: of (\S+))? ms (?:of compute )?and pays (\S+) ms for [a-z ]*"
                                             r"(?:: ([\d.]+)×)?", text):
        of = of or first[1]
        def balance(r):
            is_, was = [(1e3 * value_of(results, "step", x), parts_of(x)["compute"]) for x in (r, base)]
            gain = was[0] * was[1] - is_[0] * is_[1]
            return gain, was[0] * was[1], gain + is_[0] - was[0]

        figures = min(map(balance, group), key=lambda f: abs(f[0] - float(saved)) + abs(f[2] - float(paid)))
        for name, figure, value in zip(("saved", "of", "paid"), (saved, of, paid), figures):
            tell(name, figure, value)
        if times:
            nearest = [value_of(results, "speedup", r) for r in group]
            tell("speed-up", times, min(nearest, key=lambda v: abs(v - float(times))))
    for step, left in re.findall(r"\(([\d.]+) ms, ([\d.]+) (?:without any exchange|for one )", text):
        check(step, [])
        lefts = [1e3 * step_without(r) for r in results["causes"]["rows"] if counted(r)]
        tell("step without", left, min(lefts, key=lambda v: abs(v - float(left))))
    for value, step, name in re.findall(rf"\(([\d.]+) of ([\d.]+) ms[^)]*\) most by ({names})", text):
        check(step, [(name, value)])
    for name, rows in re.findall(f"most by ({names})(?:, not confirmed)?: ([^;]*)", text):  # of older pages
        for value, step in re.findall(r"\(([\d.]+) of ([\d.]+) ms", rows):
            check(step, [(name, value)])


def check_parts(results, row, text, tell):
    if "computing" in text:  # of an older page: medians over the runs
        names = {"computing": "computing", "waiting for the exchange": "sync_exposed", "waiting for cores": "core_wait"}
        names = {text: value_of(results, name, row) for text, name in names.items()}
    else:
        names = parts_of(row)
    m = re.match(r"(?:.*: )?[Oo]f ([\d.]+) (ms|s) ", text)
    tell("step", m[1], value_of(results, "step", row) / {"ms": 1e-3, "s": 1}[m[2]])
    for value, name in re.findall(r"([\d.]+) % (" + "|".join(names) + ")", text.split("; reference")[0]):
        tell(name, value, 100 * names[name])
    if m := re.search(r"\(([\d.]+) % packing", text):
        tell("packing", m[1], 100 * value_of(results, "packing", row))


def chosen(results, selector):
    """The first row with a successful run that has the settings of a selector."""
    for row in results["rows"]:
        s = {"condition": "", "options": "", "per_worker": 0, "hosts": 0, "per_host": 0, **row["setting"]}
        s["wire"] = s.get("wire") or "fp32"
        if selector and counted(row) and not s.get("peer") and all(str(s.get(k, "")) == v for k, v in selector.items()):
            return row


def check_ours(results, head, cells, row, tell):
    for name, text in zip(head[1:], cells[1:]):
        name, _, unit = name.partition(", ")
        value = value_of(results, name, row)
        if name == "accuracy":
            value = accuracy_as(text, results, row)
        tell("ours, " + name, text if value is not None else "", (value or 0) / SCALES.get(unit, 1))


def plain(text):
    """A line of Markdown without its escapes."""
    return re.sub(r"\\(.)", r"\1", text)


def label(setting):
    """The start of the row's label, which tells it among rows with one condition."""
    return setting["strategy"] + " "


def main(folder):
    path = os.path.join(folder, "results.json")
    opened = open(path) if os.path.exists(path) else gzip.open(path + ".gz", "rt")
    with opened as f:
        results = json.load(f)
    for row in results["rows"]:
        row["host_cores"] = results["host"]["cores"]
    wrong = checked = left = 0
    inquiry = results.get("inquiry") or {}
    ours, asked = iter(inquiry.get("reference", {}).get("rows") or []), list(inquiry.get("questions") or [])
    beside, title, head = None, "", None

    def tell(name, text, value):
        nonlocal wrong, checked, left
        is_right = follows(text, value)
        if is_right is None:
            left += 1
            return
        checked += 1
        if not is_right:
            wrong += 1
            print(f"{folder}: {title}: {cells[0]}: {name} {text}, computed {value:.6g}")

    for line in open(os.path.join(folder, "report.md"), encoding="utf-8"):
        if title == "In short" and asked and line.startswith("- ") and (" " + plain(asked[0]["ask"])) in plain(line):
            q, cells = asked.pop(0), [line[:60]]
            check_answer(results, q, plain(line).split(plain(q["ask"]), 1)[1].strip(), tell)
        for workers, times in re.findall(r"(\d+) workers predicted [^,;]*, measured ([\d.]+)×", line):
            cells, near = [line[:60]], [value_of(results, "speedup", r) for r in results["rows"] if counted(r) and
                                        r["setting"]["workers"] == int(workers)]
            tell("measured speed-up", times, min(near, key=lambda v: abs(v - float(times))))
        if line.startswith("#"):
            title, head = line.strip("# \n"), None
        if not line.startswith("| ") or title not in ("Speed", "Result and traffic", "Where a step goes",
                                                     "Loss of each rank", "What each worker did",
                                                     "Reference figures beside ours"):
            continue
        cells = [c.strip() for c in line.strip().strip("|").split(" | ")]
        if head is None:
            head = cells
            continue
        if title == "Reference figures beside ours":
            row = chosen(results, beside["is"]) if cells[0].startswith("ours: ") else None
            if row:
                check_ours(results, head, cells, row, tell)
            elif cells[0].startswith("ours: "):
                left += len(cells) - 1  # the questions of an older benchmark are not in its results
            elif cells[0].strip("-:"):
                beside = next(ours, {"is": {}})
            continue
        m = re.match(r"([A-Z])(\d*)  ", cells[0])  # A to Z, A1 to Z1, ...: the place in results.json
        if not m or len(cells) != len(head):
            continue
        row = results["rows"][26 * int(m.group(2) or 0) + ord(m.group(1)) - ord("A")]
        s = row["setting"]
        if not cells[0].split("  ")[1].startswith(label(s)):
            print(f"{folder}: {title}: {cells[0]} is not {s['strategy']}")
            wrong += 1
            continue
        if not counted(row) or s.get("peer") or s["strategy"] in LOOSE or not counted(row)[0]["ranks"]:
            left += 1
            continue
        check_row(results, title, head, cells, row, tell)
    print(f"{folder}: {checked} figures computed, {wrong} do not follow, {left} left out")
    return wrong == 0 and checked > 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python3 results/verify_page.py FOLDER...")
    sys.exit(0 if all([main(folder) for folder in sys.argv[1:]]) else 1)
