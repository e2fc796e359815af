"""Writes sdpa.json: PyTorch's scaled_dot_product_attention with is_causal, and its gradients, in float64.

    python3 sdpa.py > sdpa.json        (torch, numpy)

One text of 11 tokens and 2 heads of 16 features. Element i of the matrix called name, q, k, v or dy,
[tokens, heads*features], is 4 * (((i * 2654435761 + crc32(name)) mod 2^32 >> 8) / 2^24 - 1/2), exact in
float32.
"""

import json
import zlib

import numpy as np
import torch
from torch.nn import functional as F

TOKENS, HEADS, SIZE = 11, 2, 16


def values(name):
    i = np.arange(TOKENS * HEADS * SIZE, dtype=np.uint64)
    word = (i * 2654435761 + zlib.crc32(name.encode())) % 2**32
    return torch.tensor(4 * ((word >> 8) / 2.0**24 - 0.5)).reshape(1, TOKENS, HEADS, SIZE)


inputs = [values(name).requires_grad_() for name in ("q", "k", "v")]
y = F.scaled_dot_product_attention(*(x.transpose(1, 2) for x in inputs), is_causal=True).transpose(1, 2)
grads = torch.autograd.grad(y, inputs, values("dy"))
print(json.dumps({name: [float("%.9g" % x) for x in m.detach().flatten()]
                  for name, m in zip(("y", "dq", "dk", "dv"), (y, *grads))}))
