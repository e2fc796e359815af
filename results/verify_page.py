"""Recomputes figures of a benchmark's report.md from its results.json, with NumPy and none of our code.

    python3 results/verify_page.py FOLDER...

A folder holds report.md beside results.json or results.json.gz. Figures are those of the tables Speed, Result and
traffic, Loss of each rank and What each worker did: steps with their 10th to 90th percentile, samples/s, totals,
losses, accuracies of one seed, bytes, processors, memory. Status 1 if one does not follow, or if a folder has none.
Not recomputed, and counted as such: intervals, ratios, verdicts, rows of other programs and of workers that share
steps.
"""
import gzip, json, os, re, sys
import numpy as np

LOOSE = {"ps-async", "local-sgd", "diloco"}


def column(values):
    return np.array([np.nan if v is None or isinstance(v, str) else v for v in values], float)


def taken(run):
    t = run.get("taken") or run.get("cores_taken") or {}
    return t.get("stolen", 0) + t.get("others", 0)


def counted(row):
    good = sorted((r for r in row["runs"] or [] if not r.get("error")), key=lambda r: r["round"])
    return [r for r in good if taken(r) < 0.05] or good


def steps(run):
    ranks = [column(r["steps"]["seconds"]) for r in run["ranks"]]
    out = np.zeros(max(map(len, ranks)))
    for r in ranks:
        out[:len(r)] = np.maximum(out[:len(r)], r)
    return out


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
    first, medians = runs[0], [np.median(steps(r)[1:]) for r in runs]
    every = np.concatenate([steps(r)[1:] for r in runs])
    step = np.median(medians)
    samples = sorted(first["ranks"][0]["steps"]["samples"])
    out = {"step": 1e3 * step, "p10": 1e3 * np.quantile(every, .1), "p90": 1e3 * np.quantile(every, .9),
           "samples/s": samples[len(samples) // 2] / step, "total": np.median([r["seconds"] for r in runs])}
    loss = [column(r["steps"]["loss"]) for r in first["ranks"]]
    shortest = min(map(len, loss))
    out["loss"] = np.nanmean([l[:shortest] for l in loss], 0)
    out["accuracy"] = 100 * first["test_accuracy"] if first.get("test_accuracy") is not None else None
    return out, first


UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "kB": 1e3, "MB": 1e6, "B": 1}


def check_row(title, head, cells, row, tell):
    want, first = expected(row)
    at = {re.split(r"[, ]", h)[0]: i for i, h in reversed(list(enumerate(head)))}
    unit = {h.split(",")[0]: h.split(", ")[-1] for h in head}
    if title == "Speed":
        tell("step", cells[at["step"]], want["step"])
        if m := re.search(r"\(([\d.]+)–([\d.]+)\)", cells[at["step"]]):
            tell("10th percentile", m.group(1), want["p10"])
            tell("90th percentile", m.group(2), want["p90"])
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
    elif title == "Loss of each rank":
        i = int(cells[at["iteration"]]) - 1
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


def label(setting):
    """The start of the row's label, which tells it among rows with one condition."""
    return setting["strategy"] + " "


def main(folder):
    path = os.path.join(folder, "results.json")
    opened = open(path) if os.path.exists(path) else gzip.open(path + ".gz", "rt")
    with opened as f:
        results = json.load(f)
    order = []  # groups of rows in the order of the page
    for row in results["rows"]:
        s = row["setting"]
        key = (s["model"], s["data"], s["batch"], s.get("per_worker", 0), s.get("condition", ""))
        group = next((g for k, g in order if k == key), None)
        if group is None:
            order.append((key, group := []))
        group.append(row)
    wrong = checked = left = 0
    tables, title, head = {}, "", None
    for line in open(os.path.join(folder, "report.md"), encoding="utf-8"):
        if line.startswith("#"):
            title, head = line.strip("# \n"), None
            if title in ("Speed",):
                tables["group"] = tables.get("group", -1) + 1
        if not line.startswith("| ") or title not in ("Speed", "Result and traffic", "Loss of each rank",
                                                     "What each worker did"):
            continue
        cells = [c.strip() for c in line.strip().strip("|").split(" | ")]
        if head is None:
            head = cells
            continue
        m = re.match(r"([A-Z]+)  ", cells[0])
        if not m or len(cells) != len(head):
            continue
        number = 0
        for c in m.group(1):
            number = 26 * number + ord(c) - 64
        row = order[tables["group"]][1][number - 1]
        s = row["setting"]
        if not cells[0].split("  ")[1].startswith(label(s)):
            print(f"{folder}: {title}: {cells[0]} is not {s['strategy']}")
            wrong += 1
            continue
        if not counted(row) or s.get("peer") or s["strategy"] in LOOSE or not counted(row)[0]["ranks"]:
            left += 1
            continue

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

        check_row(title, head, cells, row, tell)
    print(f"{folder}: {checked} figures computed, {wrong} do not follow, {left} left out")
    return wrong == 0 and checked > 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python3 results/verify_page.py FOLDER...")
    sys.exit(0 if all([main(folder) for folder in sys.argv[1:]]) else 1)
