#!/usr/bin/env python3
"""Time Lockstep's and PyTorch's training steps on one GPU in turn.

    results/gpu/beside.py --binary bin/lockstep-cuda --out FILE [--rounds 3] [--budget 300] [--only REGEXP]

For each network and precision PyTorch's candidates below are timed as pytorch.py does, and the fastest stays. Then
they take turns: a run of lockstep.py, a block of PyTorch's steps, and so on. The ratio is that of the medians; each
round's is given too. PyTorch keeps its memory meanwhile and queues nothing. FILE gets a line of JSON for each.
"""
import argparse
import gc
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--binary", default="bin/lockstep-cuda")
parser.add_argument("--out", required=True)
parser.add_argument("--rounds", type=int, default=3, help="0: PyTorch's candidates alone")
parser.add_argument("--budget", type=float, default=300, help="seconds after which no other network is begun")
parser.add_argument("--only", default="", help='a regular expression for "network math"')
parser.add_argument("--parts", default="", help="a regular expression for PyTorch's candidates")
parser.add_argument("--seconds", type=float, default=0.5, help="of steps in each turn, about")
parser.add_argument("--cpu", action="store_true", help="tiny batches on the processor: finds mistakes, not times")
a = parser.parse_args()

HERE = os.path.dirname(os.path.abspath(__file__))
sys.argv = ["pytorch.py", "--out", os.devnull] + (["--device", "cpu", "--quick"] if a.cpu else [])
sys.path.insert(0, HERE)
import pytorch  # noqa: E402
import torch  # noqa: E402

EAGER, COPIED = ("eager", "channels_last", "resident"), ("eager", "channels_last", "copied")
GRAPH, FLAT = ("graph", "channels_last", "resident"), ("graph", "contiguous", "resident")
COMPILED, REDUCED = ("compile", "channels_last", "resident"), ("compile-reduce-overhead", "channels_last", "resident")
WORDS = [("eager", "contiguous", "resident"), ("graph", "contiguous", "resident"),
         ("compile", "contiguous", "resident"), ("compile-reduce-overhead", "contiguous", "resident")]
# What was fastest before for each, and what had not been tried. In fp32 the products limit, whoever launches them.
CANDIDATES = [(network, math, [c for c in candidates if math != "fp32" or "compile" not in c[0]])
              for network, candidates in (
    ("resnet50", [EAGER, GRAPH, COMPILED, REDUCED]), ("resnet50_224", [EAGER, COPIED, GRAPH, COMPILED, REDUCED]),
    ("vgg11", [EAGER, GRAPH, REDUCED]), ("lenet", [EAGER, FLAT, REDUCED]), ("bert-base", WORDS),
) for math in ("tf32", "bf16", "fp32")]


def built(name, math, candidate):
    """-> (a PyTorch step, its figures), or (None, why there are none)."""
    variant, layout, data = candidate
    optimizer = pytorch.NETWORKS[name]["optimizer"]
    job = pytorch.Job(name, math, variant, layout=layout, data=data, optimizer=optimizer)

    def ring(*_):
        raise pytorch.TimeUp

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 100, 1)
    try:
        network, inputs, labels = pytorch.build(job)
        step = pytorch.make_step(job, network, inputs, labels)
        step.needs = network, inputs, labels  # a captured graph does not hold them
        return step, pytorch.timed(step)
    except pytorch.TimeUp:
        return None, {"error": "stopped after 100 s"}
    except Exception as e:
        return None, {"error": "%s: %s" % (type(e).__name__, str(e).strip()[:300])}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def ours(network, math):
    """-> the line of lockstep.py for a run."""
    with tempfile.NamedTemporaryFile(mode="r", suffix=".jsonl") as out:
        command = [sys.executable, os.path.join(HERE, "lockstep.py"), "--binary", a.binary, "--out", out.name,
                   "--only", "^%s$" % network, "--math", math, "--seconds", str(a.seconds)]
        command += ["--device", "cpu", "--extra=--batch 2"] if a.cpu else []
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        return json.loads(out.readline())


def compare(network, math, candidates):
    """-> the record of a network in a precision."""
    torch.compiler.reset()
    best, line = None, {"network": network, "math": math, "batch": pytorch.NETWORKS[network]["batch"],
                        "candidates_ms": {}, "errors": {}}
    for candidate in candidates:
        if candidate[0] == "graph" and a.cpu or not re.search(a.parts, candidate[0]):
            continue
        step, figures = built(network, math, candidate)
        name = " ".join(candidate)
        if step is None:
            line["errors"][name] = figures["error"]
            continue
        line["candidates_ms"][name] = figures["median_ms"]
        if best is None or figures["median_ms"] < best[1]["median_ms"]:
            best = (step, figures, name)
        del step
        gc.collect()
        if pytorch.ON_GPU:
            torch.cuda.empty_cache()
    if best is None or a.rounds == 0:
        return line
    step, figures, line["pytorch"] = best
    count = max(1, round(a.seconds * 1e3 / figures["median_ms"])) if not a.cpu else 1
    runs, theirs = [], []
    for _ in range(a.rounds):
        runs.append(ours(network, math))
        if "error" in runs[-1]:
            return {**line, "errors": {**line["errors"], "lockstep": runs[-1]["error"]}}
        pytorch.block(step, max(1, count // 5))  # the GPU's clock rises
        theirs.append(round(pytorch.block(step, count) * 1e3, 4))
    mine = [r["median_ms"] for r in runs]
    return {**line, "lockstep_ms": mine, "pytorch_ms": theirs, "phases_ms": runs[-1]["phases_ms"],
            "ratio": round(statistics.median(theirs) / statistics.median(mine), 3),
            "ratios": [round(t / m, 3) for t, m in zip(theirs, mine)]}


def main():
    pytorch.set_precision("fp32")
    with open(a.out, "a") as out:
        def write(line):
            out.write(json.dumps(line) + "\n")
            out.flush()
            print("%6.1f s  %s" % (pytorch.spent(), json.dumps(line)), flush=True)

        write({**pytorch.FACTS, "cudnn": torch.backends.cudnn.version(), "rounds": a.rounds,
               "gpu_state": pytorch.state_of_gpu()})
        for network, math, candidates in CANDIDATES:
            if not re.search(a.only, network + " " + math):
                continue
            if pytorch.spent() > a.budget:
                write({"network": network, "math": math, "skipped": "%.0f s were over" % a.budget})
                continue
            write({**compare(network, math, candidates), "seconds": round(pytorch.spent(), 1)})
            gc.collect()
    os._exit(0)  # not exit: the processes that compile would be waited for


main()
