"""Trains under PyTorch what rows of lockstep bench train, and writes the same steps.jsonl.

usage: python -c SCRIPT. The first line of output is JSON: "hello" with versions, or "done" with the
reason. Then each line of input is the path of a file that describes a run, and is answered by JSON lines:
"steps" done so far, now and then, and "done" at last, with an "error" if the run failed. PyTorch is loaded
once; the workers of a run are forks of this process, which computes nothing itself. It ends with its input.
"""
import sys

sys.path[:] = [p for p in sys.path if p]  # no module of the folder that this was started in
import json
import mmap
import os
import select
import signal
import struct
import threading
import time
import traceback


def read_tensors(path):
    """Reads a safetensors file: a length, a JSON header, the bytes."""
    import torch

    kinds = {"F32": torch.float32, "I64": torch.int64}
    with open(path, "rb") as f:
        (n,) = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(n))
        text = bytearray(f.read())
    out = {}
    for name, e in header.items():
        if name != "__metadata__":
            lo, hi = e["data_offsets"]
            flat = torch.frombuffer(text, dtype=kinds[e["dtype"]], offset=lo,
                                    count=(hi - lo) // (4 if e["dtype"] == "F32" else 8))
            out[name] = flat.reshape(e["shape"]).clone()
    return out


def build(model, classes, stem):
    """Returns a network of images with lockstep's parameter names; stem is the size of its first filters."""
    from torch import nn
    import torch.nn.functional as F

    class LeNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(3, 6, 5), nn.Conv2d(6, 16, 5, padding=2)
            self.fc1, self.fc2 = nn.Linear(784, 64), nn.Linear(64, classes)

        def forward(self, x):
            x = F.max_pool2d(F.relu(self.conv1(x)), 2)
            x = F.max_pool2d(F.relu(self.conv2(x)), 2)
            return self.fc2(F.relu(self.fc1(x.flatten(1))))

    class VGG11(nn.Module):
        def __init__(self):
            super().__init__()
            layers, c = [], 3
            for v in (64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0):
                if v == 0:
                    layers.append(nn.MaxPool2d(2, 2))
                    continue
                layers += [nn.Conv2d(c, v, 3, padding=1), nn.BatchNorm2d(v), nn.ReLU(inplace=True)]
                c = v
            self.features, self.classifier = nn.Sequential(*layers), nn.Linear(512, classes)

        def forward(self, x):
            return self.classifier(self.features(x).flatten(1))

    class Basic(nn.Module):
        def __init__(self, cin, cout, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(cin, cout, 3, stride=stride, padding=1, bias=False)
            self.conv2 = nn.Conv2d(cout, cout, 3, padding=1, bias=False)
            self.bn1, self.bn2, self.more = nn.BatchNorm2d(cout), nn.BatchNorm2d(cout), (cout - cin) // 2

        def forward(self, x):
            y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
            if self.more:
                x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.more, self.more))
            return F.relu(y + x)

    class SmallResNet(nn.Module):
        def __init__(self, blocks):
            super().__init__()
            self.conv1, self.bn1, c = nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), 16
            for stage in (1, 2, 3):
                layers = []
                for block in range(blocks):
                    wide = 16 << (stage - 1)
                    layers.append(Basic(c, wide, 2 if stage > 1 and block == 0 else 1))
                    c = wide
                setattr(self, "layer%d" % stage, nn.Sequential(*layers))
            self.linear = nn.Linear(64, classes)

        def forward(self, x):
            x = self.layer3(self.layer2(self.layer1(F.relu(self.bn1(self.conv1(x))))))
            return self.linear(x.mean((2, 3)))

    class Bottleneck(nn.Module):
        def __init__(self, cin, width, stride, first):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(cin, width, 1, bias=False), nn.BatchNorm2d(width)
            self.conv2 = nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(width)
            self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
            self.downsample = None
            if first:
                self.downsample = nn.Sequential(nn.Conv2d(cin, 4 * width, 1, stride=stride, bias=False),
                                                nn.BatchNorm2d(4 * width))

        def forward(self, x):
            y = F.relu(self.bn1(self.conv1(x)))
            y = self.bn3(self.conv3(F.relu(self.bn2(self.conv2(y)))))
            return F.relu(y + (x if self.downsample is None else self.downsample(x)))

    class ResNet50(nn.Module):
        def __init__(self):
            super().__init__()
            self.is_small, c = stem == 3, 64
            stride = 1 if self.is_small else 2
            self.conv1 = nn.Conv2d(3, 64, stem, stride=stride, padding=stem // 2, bias=False)
            self.bn1 = nn.BatchNorm2d(64)
            for stage, blocks in enumerate((3, 4, 6, 3)):
                layers = []
                for block in range(blocks):
                    width = 64 << stage
                    layers.append(Bottleneck(c, width, 2 if stage and not block else 1, block == 0))
                    c = 4 * width
                setattr(self, "layer%d" % (stage + 1), nn.Sequential(*layers))
            self.fc = nn.Linear(2048, classes)

        def forward(self, x):
            x = F.relu(self.bn1(self.conv1(x)))
            if not self.is_small:
                x = F.max_pool2d(x, 3, 2, 1)
            x = self.layer2(self.layer1(x))
            return self.fc(self.layer4(self.layer3(x)).mean((2, 3)))

    return {"lenet": LeNet, "vgg11": VGG11, "resnet20": lambda: SmallResNet(3),
            "resnet56": lambda: SmallResNet(9), "resnet50": ResNet50}[model]()


def build_bert(tensors, classes, dropout):
    """Returns Hugging Face's BertForSequenceClassification with its names, of the size of tensors."""
    import torch
    from torch import nn
    import torch.nn.functional as F

    words, width = tensors["bert.embeddings.word_embeddings.weight"].shape
    positions = tensors["bert.embeddings.position_embeddings.weight"].shape[0]
    layers = len([k for k in tensors if k.endswith(".intermediate.dense.weight")])

    def norm():
        return nn.LayerNorm(width, eps=1e-12)

    def dense(cin=width, cout=width):
        return nn.Linear(cin, cout)

    class Embeddings(nn.Module):
        def __init__(self):
            super().__init__()
            self.word_embeddings = nn.Embedding(words, width)
            self.position_embeddings = nn.Embedding(positions, width)
            self.token_type_embeddings, self.LayerNorm = nn.Embedding(2, width), norm()

        def forward(self, ids, kinds):
            of_kinds = self.token_type_embeddings
            kind = of_kinds.weight[0] if kinds is None else of_kinds(kinds)
            x = self.word_embeddings(ids) + self.position_embeddings.weight[:ids.shape[1]] + kind
            return F.dropout(self.LayerNorm(x), dropout)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            parts = {name: dense() for name in ("query", "key", "value")}
            out = nn.ModuleDict({"dense": dense(), "LayerNorm": norm()})
            self.attention = nn.ModuleDict({"self": nn.ModuleDict(parts), "output": out})
            self.intermediate = nn.ModuleDict({"dense": dense(width, 4 * width)})
            self.output = nn.ModuleDict({"dense": dense(4 * width, width), "LayerNorm": norm()})

        def forward(self, x, mask):
            n, t, _ = x.shape
            q, k, v = (self.attention["self"][name](x).view(n, t, width // 64, 64).transpose(1, 2)
                       for name in ("query", "key", "value"))
            a = F.scaled_dot_product_attention(q, k, v, mask, dropout).transpose(1, 2).reshape(n, t, width)
            o = self.attention["output"]
            x = o["LayerNorm"](x + F.dropout(o["dense"](a), dropout))
            y = self.output["dense"](F.gelu(self.intermediate["dense"](x)))
            return self.output["LayerNorm"](x + F.dropout(y, dropout))

    class Bert(nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = nn.ModuleDict({
                "embeddings": Embeddings(), "pooler": nn.ModuleDict({"dense": dense()}),
                "encoder": nn.ModuleDict({"layer": nn.ModuleList(Layer() for _ in range(layers))})})
            self.classifier = nn.Linear(width, classes)

        def forward(self, x):
            ids, kinds, mask = x
            h = self.bert["embeddings"](ids, kinds)
            for layer in self.bert["encoder"]["layer"]:
                h = layer(h, mask)
            h = torch.tanh(self.bert["pooler"]["dense"](h[:, 0]))
            return self.classifier(F.dropout(h, dropout))

    return Bert()


def exchange(spec, params, rank):
    """Averages the gradients of all workers."""
    import torch
    import torch.distributed as dist

    workers = spec["workers"]
    for p in params:
        if spec["strategy"] == "all-reduce":
            dist.all_reduce(p.grad)
            p.grad /= workers
        elif rank == 0:
            parts = [torch.empty_like(p.grad) for _ in range(workers)]
            dist.gather(p.grad, parts, dst=0)
            mean = torch.stack(parts).mean(0)
            dist.scatter(p.grad, [mean] * workers, src=0)
        else:
            dist.gather(p.grad, dst=0)
            dist.scatter(p.grad, src=0)


def end_with(parent):
    """Ends this process when its parent has ended, whatever ended it."""

    def watch():
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def network(spec, tensors):
    """Returns the network with the exported weights."""
    import torch

    weights = {k: v for k, v in tensors.items() if not k.startswith("batch.")}
    if spec["model"].startswith("bert-"):
        net = build_bert(weights, spec["classes"], spec["dropout"])
    else:
        stem = weights["conv1.weight"].shape[-1] if "conv1.weight" in weights else 3
        net = build(spec["model"], spec["classes"], stem)
    net.load_state_dict(weights, strict=True)
    if spec["format"] == "channels-last":
        net = net.to(memory_format=torch.channels_last)
    return net.train()


def texts(tensors, name, part):
    """Returns ids, kinds and mask of texts; no kinds without pairs, and no mask without padding."""
    import torch

    ids, lengths = tensors[name + "tokens"][part], tensors[name + "lengths"][part]
    kinds, mask = tensors.get(name + "kinds"), None
    ids = ids[:, :lengths.max()].contiguous()
    if lengths.min() < ids.shape[1]:
        mask = (torch.arange(ids.shape[1]) < lengths[:, None])[:, None, None, :]
    if kinds is not None:
        kinds = kinds[part][:, :ids.shape[1]].contiguous()
    return ids, kinds, mask


def part_of(spec, tensors, rank, k, n):
    """Returns this worker's part of the first n samples of an exported batch."""
    import torch

    name, w = "batch.%d." % k, spec["workers"]
    part = slice(rank * n // w, (rank + 1) * n // w)
    if name + "tokens" in tensors:
        x = texts(tensors, name, part)
    else:
        x = tensors[name + "images"][part].contiguous()
        if spec["format"] == "channels-last":
            x = x.to(memory_format=torch.channels_last)
    return x, tensors[name + "labels"][part]


def batches(spec, tensors, rank):
    """Returns this worker's part of each exported batch."""
    out = []
    while "batch.%d.labels" % len(out) in tensors:
        n = len(tensors["batch.%d.labels" % len(out)])
        out.append(part_of(spec, tensors, rank, len(out), n))
    return out


def optimizer(spec, params):
    """Returns SGD, in one pass over the weights where this version of PyTorch has that for processors."""
    import torch

    settings = {"lr": spec["lr"], "momentum": spec["momentum"], "nesterov": spec["nesterov"],
                "weight_decay": spec["weight_decay"]}
    try:
        return torch.optim.SGD(params, fused=True, **settings)
    except (TypeError, RuntimeError):
        return torch.optim.SGD(params, **settings)


def bind(rank, spec):
    """Gives each of several workers cores of its own, as Lockstep does, if they use all of the machine."""
    try:
        cores, n = sorted(os.sched_getaffinity(0)), spec["threads"]
        if spec["workers"] > 1 and spec["workers"] * n == len(cores):
            os.sched_setaffinity(0, cores[rank * n:(rank + 1) * n])
    except (AttributeError, OSError):
        pass  # the system has no such thing, or refuses


def train(rank, spec, done):
    """Trains as one worker, writes a line for each step, and counts steps in done."""
    import torch

    bind(rank, spec)
    torch.set_num_threads(spec["threads"])
    torch.set_num_interop_threads(1)
    if spec["workers"] > 1:
        import torch.distributed as dist

        dist.init_process_group("gloo", rank=rank, world_size=spec["workers"],
                                init_method="file://" + spec["meeting"])
    tensors = read_tensors(spec["tensors"])
    net = network(spec, tensors)
    parts, epoch = batches(spec, tensors, rank), spec["epoch"]
    short = part_of(spec, tensors, rank, 0, spec["short"]) if spec["short"] else None
    del tensors
    isolated = spec["workers"] == 1 or spec["strategy"] == "none"
    whole = net
    if spec["strategy"] == "ddp":
        whole = torch.nn.parallel.DistributedDataParallel(net, gradient_as_bucket_view=True,
                                                          broadcast_buffers=False)
    params = [p for p in net.parameters()]
    opt = optimizer(spec, params)
    criterion = torch.nn.CrossEntropyLoss()
    out = open(os.path.join(spec["out"], "rank%d.jsonl" % rank), "w")
    if spec["workers"] > 1:
        dist.barrier()
    for step in range(spec["steps"]):
        begin = time.perf_counter()
        x, y = parts[step % len(parts)]
        if short and step >= len(parts) and (step + 1) % epoch == 0:
            x, y = short
        opt.zero_grad(set_to_none=True)
        loss = criterion(whole(x), y)
        forward = time.perf_counter()
        loss.backward()
        backward = time.perf_counter()
        if not isolated and spec["strategy"] != "ddp":
            exchange(spec, params, rank)
        exchanged = time.perf_counter()
        opt.step()
        updated = time.perf_counter()
        own = loss.item()
        end = time.perf_counter()
        line = {"rank": rank, "step": step, "epoch": step // epoch, "own_loss": own, "loss": own,
                "samples": len(y), "seconds": end - begin,
                "phases": {"data": 0, "forward": forward - begin, "backward": backward - forward,
                           "sync_exposed": exchanged - backward, "optimizer": updated - exchanged,
                           "other": end - updated, "evaluation": 0}}
        out.write(json.dumps(line) + "\n")
        struct.pack_into("<q", done, 8 * rank, step + 1)
    out.close()


def leave(rank, spec):
    """Waits until all workers have done their steps: Gloo's threads may abort while a group is torn down."""
    open(os.path.join(spec["out"], "rank%d.done" % rank), "w").close()
    paths = [os.path.join(spec["out"], "rank%d.done" % r) for r in range(spec["workers"])]
    while not all(os.path.exists(path) for path in paths):
        time.sleep(0.01)


def worker(rank, spec, done, server):
    """Is a worker from its fork to its end."""
    status = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        end_with(server)
        train(rank, spec, done)
        leave(rank, spec)
        status = 0
    except BaseException as e:
        traceback.print_exc()
        with open(os.path.join(spec["out"], "rank%d.error" % rank), "w") as f:
            f.write("%s: %s" % (type(e).__name__, e))
    finally:
        os._exit(status)


def merge(spec):
    """Writes steps.jsonl with the mean loss of all workers, which a step of each of them waits for."""
    ranks = []
    for rank in range(spec["workers"]):
        with open(os.path.join(spec["out"], "rank%d.jsonl" % rank)) as f:
            ranks.append([json.loads(line) for line in f])
    with open(os.path.join(spec["out"], "steps.jsonl"), "w") as f:
        for lines in zip(*ranks):
            samples = sum(line["samples"] for line in lines)
            mean = sum(line["own_loss"] * line["samples"] for line in lines) / samples
            for line in lines:
                if spec["strategy"] != "none":
                    line["loss"], line["samples"] = mean, samples
                f.write(json.dumps(line) + "\n")


def reason(spec, rank, status):
    """Says why a worker has ended."""
    text = "status %d" % os.WEXITSTATUS(status)
    if os.WIFSIGNALED(status):
        text = "ended by signal %d" % os.WTERMSIG(status)
    try:
        with open(os.path.join(spec["out"], "rank%d.error" % rank)) as f:
            text = f.read()
    except OSError:
        pass
    return "worker %d: %s" % (rank, text)


def kill(pids):
    """Ends workers at once."""
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def run(spec, say):
    """Runs one row by forks of this process, and returns the answer. It ends with the input."""
    pids, told, answer = {}, time.monotonic(), {"peak_rss_bytes": 0, "cpu_seconds": 0.0}
    done = mmap.mmap(-1, 8 * spec["workers"])
    server = os.getpid()
    for rank in range(spec["workers"]):
        pid = os.fork()
        if pid == 0:
            worker(rank, spec, done, server)
        pids[pid] = rank
    while pids:
        if select.select([0], [], [], 0.05)[0]:  # nobody asks for anything meanwhile: the input has ended
            kill(pids)
            os._exit(1)
        pid, status, usage = os.wait4(-1, os.WNOHANG)
        if pid in pids:
            rank = pids.pop(pid)
            answer["peak_rss_bytes"] += 1024 * usage.ru_maxrss
            answer["cpu_seconds"] += usage.ru_utime + usage.ru_stime
            if status != 0:
                kill(pids)
                return {"error": reason(spec, rank, status)}
        if time.monotonic() - told > 2:
            told = time.monotonic()
            say({"steps": sum(struct.unpack("<%dq" % spec["workers"], done))})
    merge(spec)
    return answer


def hello():
    """Loads PyTorch, and returns what is worth knowing about it."""
    import torch
    import torch.distributed as d

    assert d.is_available() and d.is_gloo_available(), "torch without Gloo"
    try:  # the first step of an optimizer would load it
        import torch._dynamo  # noqa: F401
    except ImportError:
        pass
    return {"torch": torch.__version__, "python": sys.version.split()[0],
            "cpu": torch.backends.cpu.get_cpu_capability()}


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer

    def say(value):
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    try:
        said = hello()
    except BaseException as e:
        say({"done": {"error": "%s: %s" % (type(e).__name__, e)}})
        raise SystemExit(1)
    say({"hello": said})
    while True:
        path = sys.stdin.readline().strip()
        if not path:
            return
        with open(path) as f:
            spec = json.load(f)
        try:
            answer = run(spec, say)
        except Exception as e:
            answer = {"error": "%s: %s" % (type(e).__name__, e)}
        say({"done": answer})


if __name__ == "__main__":
    main()
