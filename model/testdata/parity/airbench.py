"""Writes airbench.json: PyTorch's numbers for the network of the recipe cifar10-94.

    python airbench.py > airbench.json        (torch 1.13 or later)

The starting point, the batch and the fields are those of the other cases: values are drawn by a counter
(splitmix64) from streams numbered by parameter, training is plain SGD with momentum 0.9 and decay 1e-4.
"""
import json
import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

BATCH, SIZE, CLASSES, STEPS, SHARDS = 8, 32, 10, 6, 2


def words(stream, n):
    with np.errstate(over="ignore"):
        x = np.uint64(stream) * np.uint64(0xD1342543DE82EF95) + np.arange(n, dtype=np.uint64)
        x += np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        return x ^ x >> np.uint64(31)


def symmetric(stream, shape, bound):
    unit = (words(stream, math.prod(shape)) >> np.uint64(40)).astype(np.float64) / 2**24
    return ((2 * unit - 1) * bound).astype(np.float32).reshape(shape)


class Group(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(width, eps=1e-12, momentum=0.4)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(width, eps=1e-12, momentum=0.4)

    def forward(self, x):
        x = F.gelu(self.norm1(F.max_pool2d(self.conv1(x), 2)))
        return F.gelu(self.norm2(self.conv2(x)))


class Airbench(nn.Module):
    def __init__(self):
        super().__init__()
        self.whiten = nn.Conv2d(3, 24, 2)
        self.group1, self.group2, self.group3 = Group(24, 64), Group(64, 256), Group(256, 256)
        self.head = nn.Linear(256, CLASSES, bias=False)

    def forward(self, x):
        x = self.group3(self.group2(self.group1(F.gelu(self.whiten(x)))))
        return self.head(F.max_pool2d(x, 3).flatten(1)) / 9


def start(i, name, p):
    shape = tuple(p.shape)
    if len(shape) > 1:
        return symmetric(i, shape, math.sqrt(3 / math.prod(shape[1:])))
    values = symmetric(i, shape, 0.1)
    return values + np.float32(1) if name.endswith(".weight") else values


def column(dtype):
    net = Airbench()
    with torch.no_grad():
        for i, (name, p) in enumerate(net.named_parameters()):
            p.copy_(torch.from_numpy(start(i, name, p)))
    net = net.to(dtype)
    x = torch.from_numpy(symmetric(100000, (BATCH, 3, SIZE, SIZE), 1)).to(dtype)
    y = torch.from_numpy((words(100001, BATCH) % np.uint64(CLASSES)).astype(np.int64))
    sgd = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    losses, gradients = [], {}
    for step in range(STEPS):
        sgd.zero_grad()
        total = 0.0
        for xs, ys in zip(x.chunk(SHARDS), y.chunk(SHARDS)):
            loss = F.cross_entropy(net(xs), ys) / SHARDS
            loss.backward()
            total += loss.item()
        losses.append(total)
        for name, p in net.named_parameters():
            if step == 0:
                gradients[name] = sample(p)
        sgd.step()
    norms = {n: p.detach().double().norm().item() for n, p in net.named_parameters()}
    buffers = {n: b.double().norm().item() for n, b in net.named_buffers() if b.is_floating_point()}
    return {"losses": losses, "gradients": gradients, "final_parameter_l2": norms, "final_buffer_l2": buffers}


def sample(p):
    flat = p.grad.double().flatten()
    index = [int(w % np.uint64(flat.numel())) for w in words(200000, 8)]
    return {"shape": list(p.shape), "l2": flat.norm().item(), "sum": flat.sum().item(),
            "index": index, "value": [flat[i].item() for i in index]}


recipe = {"model": "airbench", "batch": BATCH, "size": SIZE, "classes": CLASSES, "shards": SHARDS,
          "optimizer": "sgd", "steps": STEPS}
print(json.dumps({"case": "airbench-2shards", "torch": torch.__version__, "recipe": recipe,
                  "float64": column(torch.float64), "float32": column(torch.float32)}, indent=1))
