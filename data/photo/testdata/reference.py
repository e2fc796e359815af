"""Writes golden.json: what torchvision draws, and what Pillow and torchvision make of pixels.

    pip install torch torchvision pillow
    python3 reference.py > golden.json
"""
import hashlib
import json
import math

import numpy
import torch
import torchvision
from PIL import Image
from torchvision.transforms import RandomResizedCrop
from torchvision.transforms import functional as F


def picture(width, height):
    """Pixel c of (x, y) is (x*x*(c+3) + y*y*7 + x*y*(c+1)*5 + c*91) >> 3, as a byte."""
    y, x, c = numpy.mgrid[:height, :width, :3]
    return ((x * x * (c + 3) + y * y * 7 + x * y * (c + 1) * 5 + c * 91) >> 3).astype(numpy.uint8)


def moments(width, height, draws=100_000):
    torch.manual_seed(1)
    image = Image.new("RGB", (width, height))
    rows = []
    for _ in range(draws):
        top, left, h, w = RandomResizedCrop.get_params(image, (0.08, 1.0), (3.0 / 4, 4.0 / 3))
        rows.append((w * h / (width * height), math.log(w / h), (left + w / 2) / width, (top + h / 2) / height))
    rows = numpy.array(rows)
    return {"width": width, "height": height, "mean": rows.mean(0).tolist(), "variance": rows.var(0).tolist()}


def scaled(width, height, box, side):
    image = Image.fromarray(picture(width, height))
    left, top, w, h = box
    out = numpy.asarray(F.resized_crop(image, top, left, h, w, [side, side], antialias=True))
    return {"width": width, "height": height, "box": box, "side": side,
            "sha256": hashlib.sha256(out.tobytes()).hexdigest()}


def coloured(name, factor):
    image = Image.fromarray(picture(12, 5))
    out = numpy.asarray(getattr(F, "adjust_" + name)(image, factor))
    return {"name": name, "factor": factor, "pixels": out.tobytes().hex()}


print(json.dumps({
    "torchvision": torchvision.__version__,
    "moments": [moments(500, 375), moments(375, 500), moments(64, 64), moments(900, 200)],
    "scaled": [scaled(*a) for a in [
        (500, 375, (0, 0, 500, 375), 224), (500, 375, (100, 50, 224, 224), 224),
        (500, 375, (33, 71, 97, 120), 224), (500, 375, (7, 9, 450, 340), 160), (64, 48, (5, 6, 31, 17), 32),
        (64, 48, (63, 47, 1, 1), 8), (300, 300, (1, 2, 297, 7), 16), (2000, 40, (0, 0, 2000, 40), 13)]],
    "coloured": [coloured(*a) for a in [
        ("brightness", 0.6), ("brightness", 1.37), ("contrast", 0.61), ("contrast", 1.4), ("saturation", 0.6),
        ("saturation", 1.33), ("saturation", 0.0), ("hue", 0.1), ("hue", -0.1), ("hue", 0.5)]],
}, indent=1))
