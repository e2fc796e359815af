#!/usr/bin/env python3
"""Whether 200 steps of resnet50 (CIFAR stem) lose as much as PyTorch's do.

    band.py make SEED CIFAR_ARCHIVE >> pytorch.jsonl    (torch, torchvision; once for each seed)
    band.py check steps.jsonl                           (a run directory's; exit 1 if it is outside)

The run, the same on both sides but for the order of the images and the random numbers: torchvision's
initial weights, the first 3,200 training images of CIFAR-10 once, in batches of 16, without
augmentation, SGD with rate 0.001 and momentum 0.9. Losses are averaged over windows of 40 steps.

The band of a window reaches from the lowest of the PyTorch runs to the highest, and as far again on
both sides: of equals, one more run lies between the extremes of three in only half of all windows.
"""
import json
import os
import sys
import tarfile

STEPS, BATCH, WINDOW = 200, 16, 40


def make(seed, archive):
    import numpy as np
    import torch
    import torchvision

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    with tarfile.open(archive) as tar:
        member = next(m for m in tar if m.name.endswith("data_batch_1.bin"))
        records = np.frombuffer(tar.extractfile(member).read(), np.uint8).reshape(-1, 3073)[:STEPS * BATCH]
    mean = torch.tensor([0.4914, 0.4822, 0.4465]).reshape(1, 3, 1, 1)
    deviation = torch.tensor([0.2470, 0.2435, 0.2616]).reshape(1, 3, 1, 1)
    images = (torch.tensor(records[:, 1:].reshape(-1, 3, 32, 32)) / 255 - mean) / deviation
    labels = torch.tensor(records[:, 0].astype(np.int64))
    model = torchvision.models.resnet50(num_classes=10)
    model.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False)
    torch.nn.init.kaiming_normal_(model.conv1.weight, mode="fan_out", nonlinearity="relu")
    model.maxpool = torch.nn.Identity()
    model = model.to(memory_format=torch.channels_last)
    rule = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    losses = []
    for batch in torch.randperm(len(labels)).split(BATCH):
        rule.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images[batch]), labels[batch])
        loss.backward()
        rule.step()
        losses.append(round(loss.item(), 4))
        print(len(losses), losses[-1], file=sys.stderr)
    print(json.dumps({"torch": torch.__version__, "seed": seed, "losses": losses}))


def means(losses):
    if len(losses) != STEPS:
        sys.exit(f"{len(losses)} steps, want {STEPS}")
    return [sum(losses[i:i + WINDOW]) / WINDOW for i in range(0, STEPS, WINDOW)]


def check(path):
    with open(path) as f:
        steps = [json.loads(line) for line in f]
    ours = means([s["loss"] for s in steps if s["rank"] == 0])
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "pytorch.jsonl")) as f:
        theirs = [means(json.loads(line)["losses"]) for line in f]
    outside = False
    for i, loss in enumerate(ours):
        values = [t[i] for t in theirs]
        spread = max(values) - min(values)
        low, high = min(values) - spread, max(values) + spread
        outside |= not low <= loss <= high
        print(json.dumps({"steps": [i * WINDOW, (i + 1) * WINDOW], "lockstep": round(loss, 4),
                          "pytorch": [round(v, 4) for v in values],
                          "band": [round(low, 4), round(high, 4)], "inside": low <= loss <= high}))
    sys.exit(1 if outside else 0)


if sys.argv[1] == "make":
    make(int(sys.argv[2]), sys.argv[3])
else:
    check(sys.argv[2])
