"""Writes the images of all.txt and what Pillow makes of them: the pixels of
ImageOps.exif_transpose(Image.open(f)).convert("RGB"). usage: python3 make.py (needs Pillow)"""
import io, os
from PIL import Image, ImageOps
os.chdir(os.path.dirname(os.path.abspath(__file__)))
n, names = 6, []
def keep(name, img, **how):
    img.save(name, **how)
    names.append(name)
grey = Image.new("L", (n, n)); grey.putdata([(i * 7) % 256 for i in range(n * n)])
rgb = Image.new("RGB", (n, n)); rgb.putdata([((i * 7) % 256, (i * 31) % 256, (255 - i * 5) % 256) for i in range(n * n)])
alpha = Image.new("L", (n, n)); alpha.putdata([(i * 50) % 256 for i in range(n * n)])
keep("grey.png", grey)
keep("grey-1.png", grey.point(lambda v: 255 * (v % 2)).convert("1"))
keep("grey-transparent.png", grey, transparency=14)
keep("grey-alpha.png", Image.merge("LA", (grey, alpha)))
keep("rgb-transparent.png", rgb, transparency=(7, 31, 250))
keep("rgba.png", Image.merge("RGBA", (*rgb.split(), alpha)))
palette = rgb.convert("P", palette=Image.Palette.ADAPTIVE, colors=16)
keep("palette.png", palette)
keep("palette-transparent.png", palette, transparency=bytes((i * 60) % 256 for i in range(16)))
keep("palette-one-transparent.png", palette, transparency=3)
deep = Image.new("I;16", (n, n)); deep.putdata([(i * 1801) % 65536 for i in range(n * n)])
keep("grey-16.png", deep) # which convert("RGB") makes white, but for the darkest pixels; the upper eight bits are wanted
wide = Image.new("RGB", (7, 4)); wide.putdata([(i * 9, 255 - i * 9, (i * 40) % 256) for i in range(28)])
for o in range(1, 9):
    exif = Image.Exif(); exif[0x0112] = o
    keep(f"turned-{o}.png", wide, exif=exif)
block = Image.new("RGB", (16, 8)); block.putdata([(200, 30, 30) if i % 16 < 8 else (30, 30, 200) for i in range(128)])
exif = Image.Exif(); exif[0x0112] = 6
keep("turned-6.jpg", block, exif=exif, quality=95, subsampling=0)
cmyk = Image.new("CMYK", (8, 8), (40, 90, 160, 20))
keep("cmyk.jpg", cmyk, quality=100)
keep("lossless.webp", Image.merge("RGBA", (*rgb.split(), alpha)), lossless=True, exact=True)
smooth = Image.new("RGB", (23, 18)); smooth.putdata([(i % 23 * 11, i // 23 * 14, 255 - i % 23 * 9) for i in range(23 * 18)])
keep("lossy.webp", smooth, quality=90)
keep("lossy-alpha.webp", Image.merge("RGBA", (*smooth.split(), smooth.split()[0])), quality=90)
exif = Image.Exif(); exif[0x0112] = 5
keep("turned-5.webp", wide, lossless=True, exif=exif)
with open("all.txt", "w") as out:
    for name in names:
        img = ImageOps.exif_transpose(Image.open(name))
        if img.mode == "I;16":
            img = Image.frombytes("L", img.size, img.tobytes()[1::2])
        img = img.convert("RGB")
        side = min(img.size)
        left, upper = (img.width - side) // 2, (img.height - side) // 2
        img = img.crop((left, upper, left + side, upper + side))
        print(name, side, img.tobytes().hex(), file=out)
