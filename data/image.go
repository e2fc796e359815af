package data

import (
	"bufio"
	"context"
	"fmt"
	"image"
	imagecolor "image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"
	"strings"

	"lockstep/internal/regular"
)

// maxImagePixels bounds an image before it is decoded, where Pillow does: at twice its MAX_IMAGE_PIXELS.
const maxImagePixels = 2 * 89_478_485

// Note: colours
//
// Images become RGB as by Pillow's convert("RGB"), which torchvision's folders use: transparency is dropped,
// so a pixel has the colour that is stored beside it, and inks of CMYK are multiplied with the black. But of
// 16 bits of grey the upper eight count, where Pillow makes all white that is above 255.

// decoder decodes images one after another.
type decoder struct {
	side    int
	square  *image.RGBA
	resizer *resizer // for the size of the last image
	text    []byte   // scratch: an image as it is stored
}

// decode writes one file's image to dst, [side, side, 3].
func (d *decoder) decode(ctx context.Context, path string, dst []byte) error {
	file, err := regular.Open(path)
	if err != nil {
		return &ReadError{File: path, Err: err}
	}
	defer file.Close()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("data: read %s: %w", path, err)
	}
	return d.read(file, path, dst)
}

// read is decode for a file that is open.
func (d *decoder) read(file io.ReadSeeker, path string, dst []byte) error {
	img, orientation, err := decodeImage(file, path)
	if err != nil {
		return err
	}
	b := img.Bounds()
	n := min(b.Dx(), b.Dy())
	if d.resizer == nil || d.resizer.from != n {
		d.square, d.resizer = image.NewRGBA(image.Rect(0, 0, n, n)), newResizer(n, d.side)
	}
	turn := turnOf(orientation)
	drawOpaque(d.square, img, b.Min.Add(turn.corner(b.Dx(), b.Dy(), n)))
	upright := turn.square(d.square)
	d.resizer.scale(dst, upright.Pix, upright.Stride)
	return nil
}

// drawOpaque fills dst with the part of img from corner on, without its transparency. It changes img.
func drawOpaque(dst *image.RGBA, img image.Image, corner image.Point) {
	switch img := img.(type) {
	case *image.CMYK:
		for y := range dst.Rect.Dy() {
			for x := range dst.Rect.Dx() {
				copy(dst.Pix[y*dst.Stride+4*x:], rgbOf(img.CMYKAt(corner.X+x, corner.Y+y)))
			}
		}
		return
	case *image.NRGBA:
		for i := 3; i < len(img.Pix); i += 4 {
			img.Pix[i] = 0xff
		}
	case *image.NRGBA64:
		for i := 6; i < len(img.Pix); i += 8 {
			img.Pix[i], img.Pix[i+1] = 0xff, 0xff
		}
	case *image.Paletted:
		for i, c := range img.Palette {
			if c, isNRGBA := c.(imagecolor.NRGBA); isNRGBA {
				img.Palette[i] = imagecolor.RGBA{c.R, c.G, c.B, 0xff}
			}
		}
	}
	draw.Draw(dst, dst.Rect, img, corner, draw.Src)
}

// rgbOf converts a colour of four inks as Pillow does.
func rgbOf(c imagecolor.CMYK) []byte {
	paper := 255 - uint32(c.K)
	lit := func(ink uint8) byte {
		product := uint32(ink)*paper + 128
		return byte(paper - (product>>8+product)>>8)
	}
	return []byte{lit(c.C), lit(c.M), lit(c.Y), 255}
}

// decodeImage decodes a PNG or JPEG file, detected by its first bytes, after checking its size, and returns
// its orientation. file names r in errors.
func decodeImage(r io.ReadSeeker, file string) (img image.Image, orientation int, err error) {
	buffered := bufio.NewReader(r)
	magic, _ := buffered.Peek(8)
	decode, config := jpeg.Decode, jpeg.DecodeConfig
	isPNG := strings.HasPrefix(string(magic), "\x89PNG")
	switch {
	case isPNG:
		decode, config = png.Decode, png.DecodeConfig
	case !strings.HasPrefix(string(magic), "\xff\xd8"):
		return nil, 0, &FormatError{File: file, Reason: "neither PNG nor JPEG",
			Next: "convert it, or delete it"}
	}
	c, err := config(buffered)
	if err != nil {
		return nil, 0, readError(err, file, -1, "damaged header")
	}
	if min(c.Width, c.Height) < 1 || c.Width > maxImagePixels/c.Height {
		return nil, 0, &FormatError{File: file, Offset: -1, Next: "scale it down, or take it away",
			Reason: fmt.Sprintf("%dx%d pixels, want 1 to %d", c.Width, c.Height, maxImagePixels)}
	}
	for _, read := range []func(){
		func() { orientation = readOrientation(r, !isPNG) },
		func() { buffered.Reset(r); img, err = decode(buffered) },
	} {
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			return nil, 0, &ReadError{File: file, Err: err}
		}
		read()
	}
	if err != nil {
		return nil, 0, readError(err, file, -1, "damaged image")
	}
	return img, orientation, nil
}
