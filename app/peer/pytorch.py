"""Trains under PyTorch what a row of lockstep bench trains, and writes the same steps.jsonl.

usage: python torch.py SPEC.json. SPEC names the work; the first line of output is JSON with versions and
settings. "losses": true trains on the exported batches in order; a row goes over them again and again.
"""
import json
import os
import struct
import sys
import threading
import time


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


def build(model, classes):
    """Returns the network with the parameter names of lockstep."""
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
            self.conv1, self.bn1, c = nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), 64
            for stage, blocks in enumerate((3, 4, 6, 3)):
                layers = []
                for block in range(blocks):
                    width = 64 << stage
                    layers.append(Bottleneck(c, width, 2 if stage and not block else 1, block == 0))
                    c = 4 * width
                setattr(self, "layer%d" % (stage + 1), nn.Sequential(*layers))
            self.fc = nn.Linear(2048, classes)

        def forward(self, x):
            x = self.layer2(self.layer1(F.relu(self.bn1(self.conv1(x)))))
            return self.fc(self.layer4(self.layer3(x)).mean((2, 3)))

    return {"lenet": LeNet, "vgg11": VGG11, "resnet20": lambda: SmallResNet(3),
            "resnet56": lambda: SmallResNet(9), "resnet50": ResNet50}[model]()


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

    net = build(spec["model"], spec["classes"])
    net.load_state_dict({k: v for k, v in tensors.items() if not k.startswith("batch.")}, strict=True)
    if spec["format"] == "channels-last":
        net = net.to(memory_format=torch.channels_last)
    return net.train()


def batches(spec, tensors, rank):
    """Returns this worker's part of each exported batch."""
    import torch

    out, k = [], 0
    while "batch.%d.images" % k in tensors:
        x, y = tensors["batch.%d.images" % k], tensors["batch.%d.labels" % k]
        n, w = len(y), spec["workers"]
        part = slice(rank * n // w, (rank + 1) * n // w)
        x = x[part].contiguous()
        if spec["format"] == "channels-last":
            x = x.to(memory_format=torch.channels_last)
        out.append((x, y[part]))
        k += 1
    return out


def train(rank, spec, parent):
    """Trains as one worker and writes a line for each step."""
    import torch

    end_with(parent)
    torch.set_num_threads(spec["threads"])
    if torch.get_num_interop_threads() != 1:
        torch.set_num_interop_threads(1)
    if spec["workers"] > 1:
        import torch.distributed as dist

        dist.init_process_group("gloo", rank=rank, world_size=spec["workers"],
                                init_method="file://" + spec["meeting"])
    tensors = read_tensors(spec["tensors"])
    net = network(spec, tensors)
    parts = batches(spec, tensors, rank)
    del tensors
    isolated = spec["workers"] == 1 or spec["strategy"] == "none"
    whole = net
    if spec["strategy"] == "ddp":
        whole = torch.nn.parallel.DistributedDataParallel(net, gradient_as_bucket_view=True)
    params = [p for p in net.parameters()]
    opt = torch.optim.SGD(params, lr=spec["lr"], momentum=spec["momentum"], nesterov=spec["nesterov"],
                          weight_decay=spec["weight_decay"])
    criterion = torch.nn.CrossEntropyLoss()
    out = open(os.path.join(spec["out"], "rank%d.jsonl" % rank), "w")
    if spec["workers"] > 1:
        dist.barrier()
    for step in range(spec["steps"]):
        begin = time.perf_counter()
        x, y = parts[step % len(parts)]
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
        line = {"rank": rank, "step": step, "epoch": 0, "own_loss": own, "loss": own,
                "samples": len(y), "seconds": end - begin,
                "phases": {"data": 0, "forward": forward - begin, "backward": backward - forward,
                           "sync_exposed": exchanged - backward, "optimizer": updated - exchanged,
                           "other": end - updated, "evaluation": 0}}
        out.write(json.dumps(line) + "\n")
    out.close()
    if spec["workers"] > 1:
        leave(rank, spec)


def leave(rank, spec):
    """Ends a worker once all have done their steps: Gloo's threads may abort while a group is torn down."""
    open(os.path.join(spec["out"], "rank%d.done" % rank), "w").close()
    while not all(os.path.exists(os.path.join(spec["out"], "rank%d.done" % r)) for r in range(spec["workers"])):
        time.sleep(0.01)
    os._exit(0)


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


def main():
    with open(sys.argv[1]) as f:
        spec = json.load(f)
    end_with(os.getppid())
    import resource

    import torch

    print(json.dumps({"torch": torch.__version__, "python": sys.version.split()[0],
                      "mkldnn": torch.backends.mkldnn.is_available(), "cpu": torch.backends.cpu.get_cpu_capability(),
                      "threads": spec["threads"]}), flush=True)
    if spec["workers"] == 1:
        train(0, spec, os.getppid())
    else:
        import torch.multiprocessing as mp

        mp.spawn(train, args=(spec, os.getpid()), nprocs=spec["workers"], join=True)
    merge(spec)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    of_children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * spec["workers"]
    print(json.dumps({"peak_rss_bytes": 1024 * (own if spec["workers"] == 1 else of_children)}), flush=True)


if __name__ == "__main__":
    main()
