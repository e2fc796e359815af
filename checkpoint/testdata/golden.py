"""Writes golden.json with the reference libraries: what safetensors makes of given tensors.

    python3 golden.py > golden.json        (torch, torchvision, safetensors, transformers)

Each case lists the tensors of a state_dict, by name, type and shape, and the size and SHA-256 of the
file that safetensors.torch.save writes of it with the metadata {"format": "pt"}. Element i of the tensor
called name is ((i * 2654435761 + crc32(name)) mod 2^32 >> 8) / 2^24 - 1/2, exact in float32; an
int64 scalar, which is batch norm's num_batches_tracked, is 7.
"""

import collections
import hashlib
import json
import sys
import tempfile
import zlib

import numpy as np
import safetensors
import torch
import torchvision
import transformers
from safetensors.torch import load, save, save_file
from torch import nn
from transformers import BertConfig, BertForSequenceClassification


def values(name, shape):
    i = np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.uint64)
    word = (i * 2654435761 + zlib.crc32(name.encode())) % 2**32
    return torch.tensor(((word >> 8) / 2.0**24 - 0.5).astype(np.float32)).reshape(tuple(shape))


def case(state):
    filled = collections.OrderedDict()
    for name, t in state.items():
        filled[name] = torch.tensor(7) if t.dtype == torch.int64 else values(name, t.shape)
    text = save(filled, metadata={"format": "pt"})
    for name, t in load(text).items():
        assert torch.equal(t, filled[name]), name
    return {
        "bytes": len(text),
        "sha256": hashlib.sha256(text).hexdigest(),
        "tensors": [f"{name} {'I64' if t.dtype == torch.int64 else 'F32'} {list(t.shape)}"
                    for name, t in sorted(filled.items())],
    }


def lenet():
    return nn.ModuleDict({
        "conv1": nn.Conv2d(3, 6, 5), "conv2": nn.Conv2d(6, 16, 5, padding=2),
        "fc1": nn.Linear(784, 64), "fc2": nn.Linear(64, 10)})


def vgg11():
    model = torchvision.models.vgg11_bn(num_classes=10)
    model.classifier = nn.Linear(512, 10)
    return model


def resnet50(stem):
    model = torchvision.models.resnet50(num_classes=10)
    if stem == "cifar":
        model.conv1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
    return model


def bert_tiny():
    """Hugging Face's classifier: its names, and it must take a file of them back, old names too."""
    config = BertConfig(hidden_size=128, num_hidden_layers=2, num_attention_heads=2, intermediate_size=512)
    state = BertForSequenceClassification(config).state_dict()
    old = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): t
           for name, t in state.items()}
    for written in state, old:
        with tempfile.TemporaryDirectory() as folder:
            config.save_pretrained(folder)
            save_file(written, folder + "/model.safetensors", metadata={"format": "pt"})
            model, found = BertForSequenceClassification.from_pretrained(folder, output_loading_info=True)
        assert not any(found.values()), found
        assert all(torch.equal(t, state[name]) for name, t in model.state_dict().items())
    return state


json.dump({
    "made_by": f"safetensors {safetensors.__version__}, torch {torch.__version__}, "
               f"torchvision {torchvision.__version__}, transformers {transformers.__version__}",
    "models": {
        "lenet": case(lenet().state_dict()),
        "vgg11": case(vgg11().state_dict()),
        "resnet50": case(resnet50("cifar").state_dict()),
        "resnet50-imagenet": case(resnet50("imagenet").state_dict()),
        "bert-tiny": case(bert_tiny()),
    },
    "types": hashlib.sha256(save({
        "a": values("a", (2, 3)), "half": values("half", (5,)).half(),
        "brain": values("brain", (3,)).bfloat16(), "double": values("double", (2,)).double(),
        "count": torch.tensor(7), "word": torch.tensor([-1, 2], dtype=torch.int32),
        "byte": torch.tensor([1, 255], dtype=torch.uint8), "empty": torch.zeros(0, 4),
        "truth": torch.tensor([True, False]), 'odd "name"\n\u00e9/<': values("odd", (1,)),
    }, metadata={"format": "pt"})).hexdigest(),
}, sys.stdout, indent=1)
print()
