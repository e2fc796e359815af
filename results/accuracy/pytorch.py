#!/usr/bin/env python3
"""Writes pytorch.json: how far PyTorch's float32 kernels stray from PyTorch's float64.

    results/accuracy/pytorch.py > results/accuracy/pytorch.json        (torch 2, numpy)
    results/accuracy/pytorch.py --autocast > results/accuracy/autocast.json
    results/accuracy/pytorch.py --weights > results/accuracy/weights.json

With --autocast: how far PyTorch's mixed precision strays from it, torch.autocast("cpu", torch.bfloat16) around the
forward pass and the loss, for networks with products that Lockstep's --math bf16 rounds.

Each case trains a network from a known start for a few steps. Starts and batches are drawn by a counter
(splitmix64) as for the parity cases, from streams that the seed moves. The float64 run is kept: losses, logits of the
first and the last step, and of each parameter some entries of the first gradient and of the change that all steps made.
Of the float32 runs only their distance from it is kept. model/accuracy_test.go measures Lockstep's by the same formulas.

With --weights: how far PyTorch's float32 default, on one thread, strays in all entries of the first gradient and of the
change of the weights, over many seeds. Of the float64 runs a sketch of BUCKETS sums is kept: every entry is added to one
of them or subtracted, as a hash says, so that norms of differences of sketches are those of the vectors to some 5 %.
model/weights_accuracy_test.go measures Lockstep's.
"""
import contextlib
import json
import math
import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEEDS = range(1, 5)
STEPS = 3
ENTRIES = 8  # of each parameter
WORDS = 30522
RECIPES = [
    {"model": "lenet", "batch": 8, "size": 32, "classes": 10, "optimizer": "sgd", "lr": 0.01},
    {"model": "vgg11", "batch": 8, "size": 32, "classes": 10, "optimizer": "sgd", "lr": 0.002},
    {"model": "resnet20", "batch": 8, "size": 32, "classes": 10, "optimizer": "sgd", "lr": 0.01},
    {"model": "bert-tiny", "batch": 4, "sequence": 32, "classes": 2, "optimizer": "adamw", "lr": 0.0001},
    {"model": "bert-mini", "batch": 16, "sequence": 32, "classes": 2, "optimizer": "adamw", "lr": 0.0001},
]
WEIGHTS_SEEDS = {"resnet20": range(1, 21), "vgg11": range(1, 11)}
BUCKETS = 256
AUTOCAST_RECIPES = [
    {"model": "bert-tiny", "batch": 8, "sequence": 32, "classes": 2, "optimizer": "adamw", "lr": 0.0001},
    {"model": "resnet50", "batch": 8, "size": 32, "classes": 10, "optimizer": "sgd", "lr": 0.002},
    {"model": "bert-mini", "batch": 4, "sequence": 256, "classes": 2, "optimizer": "adamw", "lr": 0.0001},
]
# Float32 runs by name: whether oneDNN is used, the format of maps, threads.
VARIANTS = {
    "default": (True, torch.contiguous_format, 2),
    "one thread": (True, torch.contiguous_format, 1),
    "channels last": (True, torch.channels_last, 2),
    "without oneDNN": (False, torch.contiguous_format, 2),
    "without oneDNN, channels last": (False, torch.channels_last, 2),
}


class Streams:
    """The numbers of a seed."""

    def __init__(self, seed):
        self.first = seed * 1000000

    def words(self, stream, n):
        with np.errstate(over="ignore"):
            x = np.uint64(self.first + stream) * np.uint64(0xD1342543DE82EF95) + np.arange(n, dtype=np.uint64)
            x += np.uint64(0x9E3779B97F4A7C15)
            x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
            x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
            return x ^ x >> np.uint64(31)

    def below(self, stream, n, limit):
        return (self.words(stream, n) % np.uint64(limit)).astype(np.int64)

    def symmetric(self, stream, shape, bound):
        unit = (self.words(stream, math.prod(shape)) >> np.uint64(40)).astype(np.float64) / 2**24
        return ((2 * unit - 1) * bound).astype(np.float32).reshape(shape)

    def start(self, i, name, p):
        shape = tuple(p.shape)
        if name.endswith("_embeddings.weight"):
            return self.symmetric(i, shape, 0.05)
        if len(shape) > 1:
            return self.symmetric(i, shape, math.sqrt(3 / math.prod(shape[1:])))
        values = self.symmetric(i, shape, 0.1)
        return values + np.float32(1) if name.endswith(".weight") else values


def bag(**modules):
    """A module that holds others under names."""
    m = nn.Module()
    for name, module in modules.items():
        m.add_module(name, module)
    return m


class LeNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 6, 5), nn.Conv2d(6, 16, 5, padding=2)
        self.fc1, self.fc2 = nn.Linear(784, 64), nn.Linear(64, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


class VGG11(nn.Module):
    def __init__(self, classes):
        super().__init__()
        layers, inputs = [], 3
        for width in (64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0):
            if width == 0:
                layers.append(nn.MaxPool2d(2))
                continue
            layers += [nn.Conv2d(inputs, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
            inputs = width
        self.features, self.classifier = nn.Sequential(*layers), nn.Linear(512, classes)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


class Block(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.stride, self.padding = stride, (width - inputs) // 2
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        shortcut = F.pad(x[:, :, ::self.stride, ::self.stride], (0, 0, 0, 0, self.padding, self.padding))
        return F.relu(y + shortcut)


class ResNet20(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        self.layer1 = nn.Sequential(*(Block(16, 16, 1) for _ in range(3)))
        self.layer2 = nn.Sequential(Block(16, 32, 2), Block(32, 32, 1), Block(32, 32, 1))
        self.layer3 = nn.Sequential(Block(32, 64, 2), Block(64, 64, 1), Block(64, 64, 1))
        self.linear = nn.Linear(64, classes)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(F.relu(self.bn1(self.conv1(x))))))
        return self.linear(x.mean((2, 3)))


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs)
        self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)) \
            if stride > 1 or inputs != outputs else nn.Identity()

    def forward(self, x):
        y = F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))
        return F.relu(self.bn3(self.conv3(y)) + self.downsample(x))


class ResNet50(nn.Module):
    """torchvision's, with a stem of 3x3 and no pooling behind it."""

    def __init__(self, classes):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64)
        inputs = 64
        for i, blocks in enumerate((3, 4, 6, 3)):
            layer = []
            for j in range(blocks):
                layer.append(Bottleneck(inputs, 64 << i, 2 if i > 0 and j == 0 else 1))
                inputs = 256 << i
            self.add_module("layer%d" % (i + 1), nn.Sequential(*layer))
        self.fc = nn.Linear(2048, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


class Bert(nn.Module):
    def __init__(self, classes, layers, features, heads):
        super().__init__()
        self.heads = heads

        def dense(inputs, outputs):
            return nn.Linear(inputs, outputs)

        def norm():
            return nn.LayerNorm(features, eps=1e-12)

        def layer():
            return bag(
                attention=bag(
                    self=bag(query=dense(features, features), key=dense(features, features),
                             value=dense(features, features)),
                    output=bag(dense=dense(features, features), LayerNorm=norm())),
                intermediate=bag(dense=dense(features, 4 * features)),
                output=bag(dense=dense(4 * features, features), LayerNorm=norm()))

        self.bert = bag(
            embeddings=bag(word_embeddings=nn.Embedding(WORDS, features),
                           position_embeddings=nn.Embedding(512, features),
                           token_type_embeddings=nn.Embedding(2, features), LayerNorm=norm()),
            encoder=bag(layer=nn.ModuleList(layer() for _ in range(layers))),
            pooler=bag(dense=dense(features, features)))
        self.classifier = nn.Linear(features, classes)

    def forward(self, x):
        ids, keep = x
        e = self.bert.embeddings
        x = e.LayerNorm(e.word_embeddings(ids) + e.position_embeddings.weight[:ids.shape[1]]
                        + e.token_type_embeddings.weight[0])
        for layer in self.bert.encoder.layer:
            x = self.layer(layer, x, keep)
        return self.classifier(torch.tanh(self.bert.pooler.dense(x[:, 0])))

    def layer(self, m, x, keep):
        s, o = m.attention.self, m.attention.output
        q, k, v = (p(x).unflatten(2, (self.heads, -1)).transpose(1, 2) for p in (s.query, s.key, s.value))
        a = F.scaled_dot_product_attention(q, k, v, keep[:, None, None, :]).transpose(1, 2).flatten(2)
        x = o.LayerNorm(x + o.dense(a))
        return m.output.LayerNorm(x + m.output.dense(F.gelu(m.intermediate.dense(x))))


NETWORKS = {"lenet": LeNet, "vgg11": VGG11, "resnet20": ResNet20, "resnet50": ResNet50,
            "bert-tiny": lambda classes: Bert(classes, 2, 128, 2), "bert-mini": lambda classes: Bert(classes, 4, 256, 4)}


def batch(recipe, s, dtype, memory_format):
    n = recipe["batch"]
    labels = torch.from_numpy(s.below(100001, n, recipe["classes"]))
    if "sequence" in recipe:
        t = recipe["sequence"]
        ids = torch.from_numpy(s.below(100000, n * t, WORDS)).reshape(n, t)
        lengths = torch.from_numpy(t // 2 + s.below(100002, n, t // 2 + 1))
        return (ids, torch.arange(t)[None, :] < lengths[:, None]), labels
    x = torch.from_numpy(s.symmetric(100000, (n, 3, recipe["size"], recipe["size"]), 1))
    return x.to(dtype).contiguous(memory_format=memory_format), labels


def build(recipe, dtype):
    """The network of a case at its start."""
    s = Streams(recipe["seed"])
    net = NETWORKS[recipe["model"]](recipe["classes"])
    with torch.no_grad():
        for i, (name, p) in enumerate(net.named_parameters()):
            p.copy_(torch.from_numpy(s.start(i, name, p)))
    return s, net.to(dtype)


def run(recipe, dtype, mkldnn=True, memory_format=torch.contiguous_format, threads=2, autocast=False):
    """Trains a case and returns the quantities that are compared, as float64."""
    torch.set_num_threads(threads)
    s, net = build(recipe, dtype)
    if "size" in recipe:
        net = net.to(memory_format=memory_format)
    x, y = batch(recipe, s, dtype, memory_format)
    if recipe["optimizer"] == "sgd":
        optimizer = torch.optim.SGD(net.parameters(), lr=recipe["lr"], momentum=0.9, weight_decay=1e-4)
    else:
        optimizer = torch.optim.AdamW(net.parameters(), lr=recipe["lr"], eps=1e-8, weight_decay=0.01)

    def entries(values):
        return {name: v.detach().flatten()[torch.from_numpy(s.below(200000, ENTRIES, v.numel()))].double().numpy()
                for name, v in values}

    before = entries(net.named_parameters())
    result = {"losses": [], "logits": []}
    with contextlib.nullcontext() if mkldnn else torch.backends.mkldnn.flags(enabled=False):
        for step in range(recipe["steps"]):
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                logits = net(x)
                loss = F.cross_entropy(logits, y)
            loss.backward()
            result["losses"].append(loss.item())
            if step in (0, recipe["steps"] - 1):
                result["logits"].append(logits.detach().double().flatten().numpy())
            if step == 0:
                result["gradients"] = entries((n, p.grad) for n, p in net.named_parameters())
                result["norms"] = {n: p.grad.double().norm().item() for n, p in net.named_parameters()}
            optimizer.step()
    after = entries(net.named_parameters())
    result["changes"] = {name: after[name] - before[name] for name in after}
    return result


def keep(result):
    """Leaves out the parameters whose gradients are zero but for rounding (a bias before a batch norm) or in all
    entries (words that no text has)."""
    norms = result.pop("norms")
    kept = [n for n, g in result["gradients"].items() if norms[n] > 1e-6 * max(norms.values()) and np.any(g)]
    for key in ("gradients", "changes"):
        result[key] = {n: result[key][n] for n in kept}
    return result


def relative(got, want):
    return float(np.linalg.norm(np.asarray(got) - want) / np.linalg.norm(want))


def mean_square(values):
    return math.sqrt(sum(v * v for v in values) / len(values))


def distance(got, want):
    """How far a run is from the float64 one, relative: root mean squares over steps or parameters."""
    d = {"losses": mean_square([g / w - 1 for g, w in zip(got["losses"], want["losses"])]),
         "first_logits": relative(got["logits"][0], want["logits"][0]),
         "last_logits": relative(got["logits"][1], want["logits"][1])}
    for key in ("gradients", "changes"):
        d[key] = mean_square([relative(got[key][n], w) for n, w in want[key].items()])
    return {key: float("%.4g" % v) for key, v in d.items()}


def numbers(value, digits=12):
    """The same with so many digits of each number, for JSON."""
    if isinstance(value, dict):
        return {k: numbers(v, digits) for k, v in value.items()}
    if isinstance(value, (list, np.ndarray)):
        return [numbers(v, digits) for v in value]
    return float("%.*g" % (digits, value))


def strays(recipe, wide):
    """The distances of PyTorch's float32 runs."""
    narrow = {}
    for name, (mkldnn, memory_format, threads) in VARIANTS.items():
        if memory_format is torch.channels_last and "size" not in recipe:
            continue
        narrow[name] = distance(run(recipe, torch.float32, mkldnn, memory_format, threads), wide)
    return narrow


def whole(recipe, dtype):
    """Trains a case by SGD and returns all entries of the first gradient and of the change of the weights."""
    torch.set_num_threads(1)
    s, net = build(recipe, dtype)
    x, y = batch(recipe, s, dtype, torch.contiguous_format)
    optimizer = torch.optim.SGD(net.parameters(), lr=recipe["lr"], momentum=0.9, weight_decay=1e-4)

    def flat(values):
        return torch.cat([v.detach().double().flatten() for v in values]).numpy()

    before = flat(net.parameters())
    for step in range(recipe["steps"]):
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        if step == 0:
            gradients = flat(p.grad for p in net.parameters())
        optimizer.step()
    return {"gradients": gradients, "weights": flat(net.parameters()) - before}


def sketch(s, values):
    words = s.words(200001, len(values))
    signs = 1 - 2 * (words >> np.uint64(63)).astype(np.float64)
    return np.bincount((words % np.uint64(BUCKETS)).astype(np.int64), signs * values, BUCKETS)


def weights():
    """The cases of weights.json."""
    for recipe in RECIPES:
        for seed in WEIGHTS_SEEDS.get(recipe["model"], ()):
            recipe = dict(recipe, shards=1, steps=STEPS, seed=seed)
            wide, narrow = whole(recipe, torch.float64), whole(recipe, torch.float32)
            case = {"recipe": recipe,
                    "float64": {k: numbers(sketch(Streams(seed), v), 9) for k, v in wide.items()},
                    "float32": {k: float("%.3g" % relative(narrow[k], v)) for k, v in wide.items()}}
            print(recipe["model"], seed, case["float32"], file=sys.stderr)
            yield case


def write(cases):
    print('{"torch": %s, "cases": [' % json.dumps(torch.__version__))
    print(",\n".join(json.dumps(c, separators=(",", ":")) for c in cases))
    print("]}")


if "--weights" in sys.argv:
    write(weights())
    sys.exit()
mixed = "--autocast" in sys.argv
cases = []
for recipe in AUTOCAST_RECIPES if mixed else RECIPES:
    for seed in SEEDS:
        recipe = dict(recipe, shards=1, steps=STEPS, seed=seed)
        wide = keep(run(recipe, torch.float64))
        case = {"recipe": recipe, "float64": numbers(wide, 7 if mixed else 12)}
        if mixed:
            case["autocast"] = {"default": distance(run(recipe, torch.float32, autocast=True), wide)}
        else:
            case["float32"] = strays(recipe, wide)
        print(recipe["model"], seed, numbers(wide["losses"]), case.get("autocast"), case.get("float32"), file=sys.stderr)
        cases.append(case)
write(cases)
