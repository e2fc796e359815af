"""Writes the images beside it. usage: python3 make.py (needs Pillow)"""
import os
import random

from PIL import Image

os.chdir(os.path.dirname(os.path.abspath(__file__)))
random.seed(1)
w, h = 45, 38
img = Image.new("RGB", (w, h))
img.putdata([((x * 5 + random.randrange(60)) % 256, (y * 6) % 256, (x * y // 7 + random.randrange(20)) % 256)
             for y in range(h) for x in range(w)])
for name, sampling in (("444", 0), ("422", 1), ("420", 2)):
    img.save(name + ".jpg", subsampling=sampling, quality=88)
    img.save(name + "-optimized.jpg", subsampling=sampling, quality=60, optimize=True)
    img.save(name + "-restarts.jpg", subsampling=sampling, quality=80, restart_marker_blocks=2)
img.convert("L").save("grey.jpg", quality=70)
img.convert("L").save("grey-restarts.jpg", quality=95, restart_marker_rows=1)
img.save("progressive.jpg", progressive=True)
img.save("rgb.jpg", keep_rgb=True)
img.convert("CMYK").save("cmyk.jpg")
with open("420.jpg", "rb") as file:
    text = file.read()
with open("cut.jpg", "wb") as file:
    file.write(text[:len(text) * 2 // 3])
