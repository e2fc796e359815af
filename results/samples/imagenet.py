"""Makes images in ImageNet's layout, and times torchvision's DataLoader on them.

    python3 imagenet.py make FOLDER [per class] [classes]     (Pillow, numpy)
    python3 imagenet.py time FOLDER WORKERS [SECONDS]         (torch, torchvision)

The images are made: low frequencies and noise, JPEG of quality 90, around 500 x 375 as ImageNet's are, with its
mean of about 110 KB.
"""
import os
import sys
import time


def make(folder, per_class=2, classes=1000):
    import numpy
    from PIL import Image
    rng = numpy.random.default_rng(1)
    for part, count in (("train", per_class), ("val", 1)):
        for c in range(classes):
            where = os.path.join(folder, part, f"n{c:08d}")
            os.makedirs(where, exist_ok=True)
            for k in range(count):
                w, h = ((500, 375), (375, 500), (500, 333))[(c + k) % 3]
                coarse = rng.integers(0, 256, (h // 40 + 2, w // 40 + 2, 3), dtype=numpy.uint8)
                smooth = numpy.asarray(Image.fromarray(coarse).resize((w, h), Image.BICUBIC), dtype=numpy.float32)
                fine = numpy.asarray(Image.fromarray(rng.integers(0, 256, (h // 3, w // 3), dtype=numpy.uint8))
                                     .resize((w, h), Image.BICUBIC), dtype=numpy.float32)[:, :, None] - 128
                noise = rng.normal(0, 9, (h, w, 1)).astype(numpy.float32)
                image = numpy.clip(smooth + 0.3 * fine + noise, 0, 255).astype(numpy.uint8)
                Image.fromarray(image).save(os.path.join(where, f"{part}_{k}.JPEG"), quality=90)


def measure(folder, workers, seconds=20.0):
    import torch
    from torchvision import datasets, transforms
    torch.set_num_threads(1)
    normalize = transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    data = datasets.ImageFolder(os.path.join(folder, "train"), transforms.Compose([
        transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(), normalize]))
    loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True, num_workers=workers,
                                         persistent_workers=workers > 0, drop_last=True)
    seen, began = 0, None
    while True:
        for images, _ in loader:
            if began is None:  # workers have started
                began = time.perf_counter()
                continue
            seen += len(images)
            if time.perf_counter() - began > seconds:
                print(f"torchvision, {workers} workers: {seen / (time.perf_counter() - began):.1f} images/s")
                return


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        measure(sys.argv[2], int(sys.argv[3]), *map(float, sys.argv[4:]))
