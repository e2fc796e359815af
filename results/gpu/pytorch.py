#!/usr/bin/env python3
"""Time PyTorch's training step on one NVIDIA GPU, tuned, in float32, TF32 and bfloat16.

    results/gpu/pytorch.py --out FILE [--budget 150] [--parts eager,graph,compile] [--only REGEXP]

The networks, losses and batches are those of results/peers/common.py and bert.py. A step is
zero_grad(set_to_none=True), forward, loss, backward and the optimizer's step: SGD with momentum 0.9 and weight
decay 1e-4, or AdamW for bert-base (weight decay 0.01; SGD as well). Both are fused.

    fp32   both TF32 flags off           tf32   both on
    bf16   torch.autocast(bfloat16), weights in float32, TF32 on for what stays in float32

cudnn.benchmark is on, as a user who tunes would have it. A measurement is 5 to 10 steps of warm-up, then 7 blocks
of as many steps as take 50 ms, each between two synchronisations: the median block, and the least and the most.
With data "resident" the batch is on the GPU; with "copied" each step copies it from pinned memory, non_blocking.

Order: channels_last of every network, contiguous of every network, the captured graph, torch.compile. What no
longer fits into --budget seconds is skipped, and --reserve of them are kept for the graph and torch.compile. FILE
gets a line of JSON for the machine, and one for each measurement, error and omission, as they come. See README.md.
"""
import time

START = time.perf_counter()

import argparse  # noqa: E402
import contextlib  # noqa: E402
import dataclasses  # noqa: E402
import gc  # noqa: E402
import json  # noqa: E402
import math  # noqa: E402
import os  # noqa: E402
import re  # noqa: E402
import signal  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "peers")
PARTS = ("eager", "graph", "compile")
PRECISIONS = ("bf16", "tf32", "fp32")

# seconds are guesses, for deciding what fits: eager with cuDNN's search in the first step, eager without it, and
# torch.compile with nothing in its cache. params is what our network of that name has with so many classes.
NETWORKS = {
    "lenet": dict(batch=64, input="3x32x32", classes=10, params=53762, optimizer="sgd", seconds=(2, 1, 12)),
    "vgg11": dict(batch=256, input="3x32x32", classes=10, params=9231114, optimizer="sgd", seconds=(3, 1, 18)),
    "bert-base": dict(batch=32, input="128 tokens", classes=2, params=109483778, optimizer="adamw",
                      seconds=(2, 2, 35)),
    "resnet50": dict(batch=256, input="3x32x32", classes=10, params=23520842, optimizer="sgd",
                     seconds=(8, 2, 50)),
    "resnet50_224": dict(batch=64, input="3x224x224", classes=10, params=23528522, optimizer="sgd",
                         seconds=(8, 2, 50)),
}
LARGE_CLASSES, LARGE_PARAMS = 1000, 25557032  # of resnet50_224 with --imagenet-classes

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--out", required=True, help="a file that lines of JSON are appended to")
parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
parser.add_argument("--quick", action="store_true", help="batches of 2, blocks of a step: finds mistakes, not times")
parser.add_argument("--budget", type=float, default=150, help="seconds for all, imports included")
parser.add_argument("--reserve", type=float, default=55, help="of them, seconds kept for the graph and torch.compile")
parser.add_argument("--parts", default=",".join(PARTS), help="of " + ",".join(PARTS))
parser.add_argument("--only", default="", help="a regular expression: only measurements whose label has it")
parser.add_argument("--graph-models", default="lenet", help="networks whose step is captured in a graph")
parser.add_argument("--imagenet-classes", action="store_true", help="resnet50_224 with 1000 classes, not 10")
parser.add_argument("--list", action="store_true", help="print the labels and the guessed seconds, and stop")
a = parser.parse_args()


@dataclasses.dataclass
class Job:
    """One measurement."""
    model: str
    precision: str
    variant: str  # eager, graph, compile, or compile-reduce-overhead
    layout: str = "channels_last"
    data: str = "resident"
    optimizer: str = "sgd"
    mask: bool = True  # only texts have one
    seconds: float = 0  # a guess

    @property
    def part(self):
        return self.variant.split("-")[0]

    @property
    def label(self):
        words = [self.model, self.precision, self.variant, self.layout, self.data]
        if self.model.startswith("bert"):
            words += [self.optimizer] + ([] if self.mask else ["unmasked"])
        return " ".join(words)


class TimeUp(BaseException):
    """A measurement took too long. Not an Exception, so that nobody between handles it."""


def plan():
    """-> the jobs in order: of what matters most first, within each part."""
    jobs = []

    def add(model, precision, variant, **more):
        searched, known, compiled = NETWORKS[model]["seconds"]
        guess = compiled if variant.startswith("compile") else known if more.get("data") == "copied" else searched
        layout = more.pop("layout", "contiguous" if model.startswith("bert") else "channels_last")
        more.setdefault("optimizer", NETWORKS[model]["optimizer"])
        jobs.append(Job(model, precision, variant, layout=layout, seconds=guess, **more))

    for model in NETWORKS:
        for precision in PRECISIONS:
            add(model, precision, "eager")
            add(model, precision, "eager", data="copied")
    for model in NETWORKS:
        for precision in PRECISIONS:
            if not model.startswith("bert"):
                add(model, precision, "eager", layout="contiguous")
                continue
            add(model, precision, "eager", optimizer="sgd")
            if precision == "bf16":
                add(model, precision, "eager", mask=False)
    for model in filter(None, a.graph_models.split(",")):
        for precision in PRECISIONS:
            add(model, precision, "graph")
            add(model, precision, "graph", data="copied")
            if not model.startswith("bert"):
                add(model, precision, "graph", layout="contiguous")
    for model in ("vgg11", "bert-base", "resnet50"):
        add(model, "bf16", "compile")
    add("lenet", "tf32", "compile-reduce-overhead")
    for model in ("vgg11", "bert-base", "resnet50"):
        add(model, "tf32", "compile")
    add("lenet", "bf16", "compile-reduce-overhead")
    add("lenet", "fp32", "compile-reduce-overhead")
    add("lenet", "tf32", "compile")
    parts = a.parts.split(",")
    return [j for j in jobs if j.part in parts and re.search(a.only, j.label)]


unknown = (set(a.parts.split(",")) - set(PARTS)) | (set(filter(None, a.graph_models.split(","))) - set(NETWORKS))
if unknown:
    parser.error("unknown part or network: " + ", ".join(sorted(unknown)))
if a.list:
    for job in plan():
        print("%5.0f s  %s" % (job.seconds, job.label))
    print("%5.0f s" % sum(job.seconds for job in plan()))
    sys.exit()

sys.path.insert(0, PEERS)
import torch  # noqa: E402

import common  # noqa: E402

ON_GPU = a.device == "cuda"
if ON_GPU and not torch.cuda.is_available():
    sys.exit("no GPU that PyTorch can use; --device cpu --quick finds mistakes in this script")
torch.backends.cudnn.benchmark = True
LOSS = torch.nn.CrossEntropyLoss()
FACTS = {"torch": torch.__version__, "gpu": torch.cuda.get_device_name() if ON_GPU else "none (CPU)"}
STEPS_MOST, BLOCKS, BLOCK_SECONDS = (2, 2, 0) if a.quick else (10, 7, 0.050)
STEPS_LEAST = min(5, STEPS_MOST)
# The most that one measurement may take, whatever its guess.
CAP = {"eager": 30, "graph": 30, "compile": 100}


def spent():
    return time.perf_counter() - START


def synchronize():
    if ON_GPU:
        torch.cuda.synchronize()


def set_precision(precision):
    """Sets both TF32 flags and -> a function that returns the context of the forward pass."""
    torch.backends.cuda.matmul.allow_tf32 = precision != "fp32"
    torch.backends.cudnn.allow_tf32 = precision != "fp32"
    if precision == "bf16":
        return lambda: torch.autocast(a.device, dtype=torch.bfloat16)
    return contextlib.nullcontext


def without_mask(net):
    """-> the forward pass of bert.Bert for texts without padding, where the mask adds 0."""
    def forward(ids, _):
        x = net.tok(ids) + net.pos.weight[:ids.shape[1]] + net.typ.weight[0]
        x = net.drop(net.ln(x))
        for layer in net.layers:
            x = layer(x, None)
        return net.cls(net.drop(torch.tanh(net.pool(x[:, 0]))))
    return forward


def classes_of(model):
    return LARGE_CLASSES if model == "resnet50_224" and a.imagenet_classes else NETWORKS[model]["classes"]


def build(job):
    """-> (network, inputs, labels) of a job, on the device."""
    torch.manual_seed(0)
    with torch.device(a.device):
        net, make, _ = common.build(job.model)
        x, y = make(2 if a.quick else NETWORKS[job.model]["batch"])
        if job.model == "resnet50_224" and not a.imagenet_classes:
            classes = classes_of(job.model)
            net.fc, y = torch.nn.Linear(net.fc.in_features, classes), y % classes
    net.train()
    if job.layout == "channels_last":
        net = net.to(memory_format=torch.channels_last)
        x = tuple(t.to(memory_format=torch.channels_last) if t.dim() == 4 else t for t in x)
    return net, x, y


def make_optimizer(job, params):
    """-> the optimizer with the peers' settings, fused."""
    params = list(params)
    if job.optimizer == "adamw":
        return torch.optim.AdamW(params, lr=1e-4, eps=1e-8, weight_decay=0.01, fused=True,
                                 capturable=ON_GPU and job.part == "graph")
    peers = common.sgd(params).defaults
    return torch.optim.SGD(params, fused=True, **{k: peers[k] for k in ("lr", "momentum", "weight_decay")})


def pinned(tensors):
    """-> two copies of the tensors in pinned memory, in the same layout; a loader would fill them in turn."""
    copies = [[t.cpu().pin_memory() if ON_GPU else t.clone() for t in tensors] for _ in range(2)]
    for copy in copies:
        for t, original in zip(copy, tensors):
            assert t.stride() == original.stride(), "the copy has another layout"
    return copies


def make_step(job, net, x, y):
    """-> a function that does one training step and returns the loss."""
    optimizer = make_optimizer(job, net.parameters())
    context = set_precision(job.precision)
    run = net if job.mask else without_mask(net)

    def forward(*batch):
        return LOSS(run(*batch[:-1]), batch[-1])

    if job.part == "compile":
        forward = torch.compile(forward, mode="reduce-overhead" if "reduce-overhead" in job.variant else "default")

    def train(batch):
        optimizer.zero_grad(set_to_none=True)
        with context():
            loss = forward(*batch)
        loss.backward()
        optimizer.step()
        return loss

    resident, hosts = (*x, y), pinned((*x, y)) if job.data == "copied" else None
    if job.part == "graph":
        return capture(lambda: train(resident), optimizer, resident, hosts)

    def step():
        if ON_GPU and "reduce-overhead" in job.variant:
            torch.compiler.cudagraph_mark_step_begin()
        if not hosts:
            return train(resident)
        hosts.reverse()
        return train([t.to(a.device, non_blocking=True) for t in hosts[0]])

    return step


def capture(train, optimizer, inputs, hosts):
    """-> a function that replays a captured step, after copying a batch to its inputs if there are hosts."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(STEPS_LEAST):
            train()
    torch.cuda.current_stream().wait_stream(side)
    optimizer.zero_grad(set_to_none=True)  # the graph makes its own gradients
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = train()

    def step():
        if hosts:
            hosts.reverse()
            for t, host in zip(inputs, hosts[0]):
                t.copy_(host, non_blocking=True)
        graph.replay()
        return loss

    return step


def block(step, count):
    """-> seconds per step of so many steps between two synchronisations."""
    synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        step()
    synchronize()
    return (time.perf_counter() - begin) / count


def timed(step):
    """-> the figures of a step: warm-up until three steps agree to 5 %, then blocks."""
    warm = [block(step, 1)]
    while len(warm) < STEPS_MOST:
        warm.append(block(step, 1))
        if len(warm) >= STEPS_LEAST and max(warm[-3:]) < 1.05 * min(warm[-3:]):
            break
    count = max(1, math.ceil(BLOCK_SECONDS / min(warm[-3:])))
    # A step alone waits for its launches, so one of many is shorter. This block is not counted.
    count = max(1, math.ceil(BLOCK_SECONDS / block(step, count))) if count > 1 else 1
    if ON_GPU:
        torch.cuda.reset_peak_memory_stats()
    blocks = []
    while len(blocks) < BLOCKS:
        ms = block(step, count) * 1e3
        if ms * count < BLOCK_SECONDS * 0.8e3 and count < 1e5:
            count, blocks = math.ceil(1.1 * BLOCK_SECONDS * 1e3 / ms), []  # got faster: start again
            continue
        blocks.append(ms)
    memory = (torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()) if ON_GPU else (0, 0)
    loss = float(step().detach())
    return {
        "median_ms": round(statistics.median(blocks), 4), "min_ms": round(min(blocks), 4),
        "max_ms": round(max(blocks), 4), "blocks_ms": [round(b, 4) for b in blocks], "steps_per_block": count,
        "warmup_steps": len(warm), "first_step_s": round(warm[0], 3),
        "peak_allocated_mib": memory[0] >> 20, "peak_reserved_mib": memory[1] >> 20,
        "last_loss": loss if math.isfinite(loss) else str(loss)}


def settings(job):
    return {
        "matmul_tf32": torch.backends.cuda.matmul.allow_tf32, "cudnn_tf32": torch.backends.cudnn.allow_tf32,
        "autocast": "bfloat16" if job.precision == "bf16" else None, "cudnn_benchmark": True,
        "optimizer": "fused", "zero_grad": "set_to_none", "quick": a.quick}


def measure(job):
    """-> the record of a job. It frees the last job's memory first, so that peaks are its own."""
    if ON_GPU:
        gc.collect()
        torch.cuda.empty_cache()
    if job.part == "compile":
        torch.compiler.reset()
    begin = time.perf_counter()
    net, x, y = build(job)
    params = sum(p.numel() for p in net.parameters())
    batch, step = len(y), make_step(job, net, x, y)
    built = time.perf_counter()
    figures = timed(step)
    if job.part == "graph":
        figures["first_step_s"] = round(built - begin, 3)
    ours = LARGE_PARAMS if classes_of(job.model) == LARGE_CLASSES else NETWORKS[job.model]["params"]
    return {"batch": batch, "input": NETWORKS[job.model]["input"], "classes": classes_of(job.model),
            "params": params, "params_as_ours": params == ours, **figures,
            "samples_per_sec": round(batch / figures["median_ms"] * 1e3, 1),
            "seconds": round(time.perf_counter() - begin, 2), "settings": settings(job), **FACTS}


def bounded(job, seconds):
    """Runs a job for at most so many seconds -> what to add to its line."""
    def ring(*_):
        raise TimeUp

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)  # again each second, should the first be lost in a destructor
    try:
        return measure(job)
    except TimeUp:
        return {"error": "stopped after %.0f s" % seconds}
    except Exception as e:
        return {"error": "%s: %s" % (type(e).__name__, str(e).strip()[:600])}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def state_of_gpu():
    """-> clocks, power and temperature now, as nvidia-smi reads them."""
    names = "driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.draw,power.limit,temperature.gpu"
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=" + names, "--format=csv,noheader"], timeout=5,
                              capture_output=True, text=True, check=True)
        return dict(zip(names.split(","), (v.strip() for v in done.stdout.splitlines()[0].split(","))))
    except (OSError, subprocess.SubprocessError, IndexError) as e:
        return str(e)


class Output:
    """The file of lines, and the lines so far for the table."""

    def __init__(self, path):
        self.file, self.lines = open(path, "a", encoding="utf-8"), []

    def write(self, line):
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()
        if "model" in line:
            self.lines.append(line)

    def table(self):
        done = [r for r in self.lines if "median_ms" in r]
        best = {}
        for r in done:
            key = (r["model"], r["precision"], r["optimizer"], r["data"])
            best[key] = min(best.get(key, math.inf), r["median_ms"])
        text = ["", "%-13s %5s %-5s %-24s %-14s %-9s %9s %9s %9s %11s %8s %7s" % (
            "model", "batch", "", "variant", "layout", "data", "ms", "least", "most", "samples/s", "GiB", "took s")]
        for r in done:
            variant = r["variant"] + (" unmasked" if not r["mask"] else "")
            if r["model"].startswith("bert"):
                variant += " " + r["optimizer"]
            fastest = best[(r["model"], r["precision"], r["optimizer"], r["data"])] == r["median_ms"]
            text.append("%-13s %5d %-5s %-24s %-14s %-9s %9.3f %9.3f %9.3f %11.1f %8.2f %7.1f%s" % (
                r["model"], r["batch"], r["precision"], variant, r["layout"], r["data"], r["median_ms"], r["min_ms"],
                r["max_ms"], r["samples_per_sec"], r["peak_allocated_mib"] / 1024, r["seconds"],
                " <" if fastest else ""))
        text.append("<: the fastest of this network, precision, optimizer and data")
        text += ["error    %s: %s" % (r["label"], r["error"][:160]) for r in self.lines if "error" in r]
        text += ["skipped  %s: %s" % (r["label"], r["skipped"]) for r in self.lines if "skipped" in r]
        text += ["other number of parameters than ours: %s, %d" % (r["model"], r["params"])
                 for r in done if not r["params_as_ours"]]
        text.append("%s, PyTorch %s, %.0f s in all" % (FACTS["gpu"], FACTS["torch"], spent()))
        return "\n".join(text)


def finish(out, status):
    print(out.table(), flush=True)
    os._exit(status)  # not exit: the processes that compile would be waited for


def main():
    out = Output(a.out)
    # A call that never returns to Python cannot be stopped by a signal.
    guard = threading.Timer(max(1.0, a.budget + 20 - spent()), finish, (out, 3))
    guard.daemon = True
    guard.start()
    out.write({
        "machine": FACTS["gpu"], "torch": torch.__version__, "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version() if ON_GPU else None, "python": sys.version.split()[0],
        "cores": os.cpu_count(), "gpu_state": state_of_gpu() if ON_GPU else None, "command": [os.path.basename(x) if x == a.out else x for x in sys.argv],
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "imports_s": round(spent(), 2)})
    jobs = plan()
    later = any(j.part != "eager" for j in jobs)
    for job in jobs:
        line = {"label": job.label, **dataclasses.asdict(job)}
        del line["seconds"]
        left = a.budget - spent() - (a.reserve if later and job.part == "eager" else 0)
        if job.part == "graph" and not ON_GPU:
            line["skipped"] = "needs a GPU"
        elif job.seconds > left:
            line["skipped"] = "may take %.0f s, and %.0f s are left" % (job.seconds, max(0, left))
        else:
            # What was built is freed when this returns.
            line.update(bounded(job, min(CAP[job.part], a.budget - spent())))
        out.write(line)
        print("%6.1f s  %s  %s" % (spent(), job.label, line.get("skipped") or line.get("error", "")[:100] or
                                   "%.3f ms" % line["median_ms"]), flush=True)
    out.write({"gpu_state_after": state_of_gpu() if ON_GPU else None, "seconds": round(spent(), 1)})
    finish(out, 0)


if __name__ == "__main__":
    main()
