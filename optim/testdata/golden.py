"""Writes golden.json with PyTorch: what torch.optim.Muon and clip_grad_norm_ make of given numbers.

    python3 golden.py > golden.json        (torch 2.15)

Element i of the tensor called name is ((i * 2654435761 + crc32(name)) mod 2^32 >> 8) / 2^24 - 1/2, exact in
float32. A case steps a weight called "w" of a shape [out, in] by gradients called "g1", "g2", ... and
lists the weight after the last. Muon's Newton-Schulz steps run in float32 instead of bfloat16, so that the
numbers can be compared closely.
"""

import json
import sys
import zlib

import numpy as np
import torch

torch.bfloat16 = torch.float32  # before Muon's module reads it


def values(name, shape):
    i = np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.uint64)
    word = (i * 2654435761 + zlib.crc32(name.encode())) % 2**32
    return torch.tensor(((word >> 8) / 2.0**24 - 0.5).astype(np.float32)).reshape(tuple(shape))


def muon(shape, steps, **settings):
    w = torch.nn.Parameter(values("w", shape))
    o = torch.optim.Muon([w], adjust_lr_fn="match_rms_adamw", **settings)
    for t in range(1, steps + 1):
        w.grad = values(f"g{t}", shape)
        o.step()
    return {"shape": shape, "steps": steps, **settings, "weight": w.detach().flatten().tolist()}


def clip(shape, most):
    g = torch.nn.Parameter(torch.zeros(shape))
    g.grad = values("g1", shape)
    norm = torch.nn.utils.clip_grad_norm_([g], most)
    return {"shape": shape, "most": most, "norm": norm.item(), "gradient": g.grad.flatten().tolist()}


json.dump({
    "torch": torch.__version__,
    "muon": [
        muon([4, 9], 3, lr=0.02, momentum=0.95, nesterov=True, weight_decay=0.1),
        muon([10, 3], 3, lr=0.05, momentum=0.9, nesterov=False, weight_decay=0.0),
    ],
    "clip": [clip([3, 5], 0.25), clip([3, 5], 10.0)],
}, sys.stdout, indent=1)
print()
