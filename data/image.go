package data

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"image"
	imagecolor "image/color"
	"image/draw"
	standard "image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"lockstep/data/jpeg"
	"lockstep/data/photo"
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
	scaler  photo.Scaler
	part    image.RGBA // of an image, as it was drawn
	text    []byte     // scratch: an image as it is stored
	plain   jpeg.Decoder
	file    bytes.Buffer // of what may be for plain
}

// decode writes a portion of one file's image to dst, [side, side, 3].
func (d *decoder) decode(ctx context.Context, path string, dst []byte, p portion) error {
	file, err := regular.Open(path)
	if err != nil {
		return &ReadError{File: path, Err: err}
	}
	defer file.Close()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("data: read %s: %w", path, err)
	}
	return d.read(file, path, dst, p)
}

// maxPlain bounds a file that is read whole to be decoded by parts.
const maxPlain = 64 << 20

// readPlain decodes what p shows of a JPEG that is as most are. isPlain is false for any other image.
func (d *decoder) readPlain(file io.Reader, p portion) (img image.Image, orientation int, isPlain bool) {
	d.file.Reset()
	magic, err := d.file.ReadFrom(io.LimitReader(file, 2))
	if err != nil || magic != 2 || d.file.String() != "\xff\xd8" {
		return nil, 0, false
	}
	if n, err := d.file.ReadFrom(io.LimitReader(file, maxPlain)); err != nil || n == maxPlain {
		return nil, 0, false
	}
	orientation = readOrientation(bytes.NewReader(d.file.Bytes()), jpegExif)
	img, isPlain = d.plain.Decode(d.file.Bytes(), func(w, h int) image.Rectangle {
		if w > maxImagePixels/h {
			return image.Rectangle{}
		}
		return p.stored(w, h, turnOf(orientation))
	})
	return img, orientation, isPlain
}

// stored returns what p shows of a stored image; all of one that is to be turned and then cut.
func (p portion) stored(w, h int, t turn) image.Rectangle {
	switch {
	case p.cut.IsAll():
		n := min(w, h)
		at := t.corner(w, h, n)
		return image.Rectangle{Min: at, Max: at.Add(image.Pt(n, n))}
	case t == (turn{}):
		return p.cut.Draw(p.stream, wordCut, w, h)
	}
	return image.Rect(0, 0, w, h)
}

// readAny decodes an image of any kind.
func (d *decoder) readAny(file io.ReadSeeker, path string, p portion) (img image.Image, orientation int,
	err error) {
	if img, orientation, isPlain := d.readPlain(file, p); isPlain {
		return img, orientation, nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, 0, &ReadError{File: path, Err: err}
	}
	return decodeImage(file, path)
}

// read is decode for a file that is open.
func (d *decoder) read(file io.ReadSeeker, path string, dst []byte, p portion) error {
	img, orientation, err := d.readAny(file, path, p)
	if err != nil {
		return err
	}
	if !p.cut.IsAll() {
		d.cut(dst, img, turnOf(orientation), p)
		return nil
	}
	b := img.Bounds()
	n := min(b.Dx(), b.Dy())
	if d.resizer == nil || d.resizer.from != n {
		d.square, d.resizer = image.NewRGBA(image.Rect(0, 0, n, n)), newResizer(n, d.side)
	}
	turn := turnOf(orientation)
	drawOpaque(d.square, img, b.Min.Add(turn.corner(b.Dx(), b.Dy(), n)))
	upright := turn.upright(d.square)
	d.resizer.scale(dst, upright.Pix, upright.Stride)
	return nil
}

// cut writes what p draws of an image, turned upright.
func (d *decoder) cut(dst []byte, img image.Image, t turn, p portion) {
	if t != (turn{}) { // which is rare, so it may cost a copy of the whole
		all := image.NewRGBA(image.Rectangle{Max: img.Bounds().Size()})
		drawOpaque(all, img, img.Bounds().Min)
		img = t.upright(all)
	}
	b := img.Bounds()
	r := p.cut.Draw(p.stream, wordCut, b.Dx(), b.Dy())
	d.part.Rect, d.part.Stride = image.Rectangle{Max: r.Size()}, 4*r.Dx()
	d.part.Pix = atLeast(d.part.Pix, 4*r.Dx()*r.Dy())
	drawOpaque(&d.part, img, b.Min.Add(r.Min))
	d.scaler.Scale(dst, d.side, d.side, photo.Pixels{Bytes: d.part.Pix, Stride: d.part.Stride, Step: 4,
		Channels: 3}, d.part.Rect)
}

// drawOpaque fills dst with the part of img from corner on, without its transparency. It changes img.
func drawOpaque(dst *image.RGBA, img image.Image, corner image.Point) {
	switch img := img.(type) {
	case videoImage:
		img.draw(dst, corner)
		return
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

// imageFormat is how images of a kind are read.
type imageFormat struct {
	magic, and string // the first bytes, and those from the ninth on
	decode     func(io.Reader) (image.Image, error)
	config     func(io.Reader) (image.Config, error)
	findExif   func(*bufio.Reader) []byte
}

func imageFormats() []imageFormat {
	return []imageFormat{
		{"\xff\xd8", "", standard.Decode, standard.DecodeConfig, jpegExif},
		{"\x89PNG", "", png.Decode, png.DecodeConfig, pngExif},
		{"RIFF", "WEBP", decodeWebP, webp.DecodeConfig, webpExif},
	}
}

// identify returns the format of an image and what its header says.
func identify(r *bufio.Reader, file string) (imageFormat, image.Config, error) {
	magic, _ := r.Peek(12)
	for _, f := range imageFormats() {
		behind := magic[min(8, len(magic)):]
		if bytes.HasPrefix(magic, []byte(f.magic)) && bytes.HasPrefix(behind, []byte(f.and)) {
			c, err := f.config(r)
			if err != nil {
				err = readError(err, file, -1, "damaged header")
			}
			return f, c, err
		}
	}
	return imageFormat{}, image.Config{}, &FormatError{File: file, Reason: "neither JPEG nor PNG nor WebP",
		Next: "convert it, or delete it"}
}

// ImageSize returns the size of an image, which errors call name, of which it reads the header. Errors: those
// of an image of a folder.
func ImageSize(name string, r io.Reader) (width, height int, err error) {
	_, c, err := identify(bufio.NewReader(r), name)
	return c.Width, c.Height, err
}

// decodeImage decodes a JPEG, PNG or WebP file, detected by its first bytes, after checking its size, and
// returns its orientation. file names r in errors.
func decodeImage(r io.ReadSeeker, file string) (img image.Image, orientation int, err error) {
	buffered := bufio.NewReader(r)
	format, c, err := identify(buffered, file)
	if err != nil {
		return nil, 0, err
	}
	if min(c.Width, c.Height) < 1 || c.Width > maxImagePixels/c.Height {
		return nil, 0, &FormatError{File: file, Offset: -1, Next: "scale it down, or take it away",
			Reason: fmt.Sprintf("%dx%d pixels, want 1 to %d", c.Width, c.Height, maxImagePixels)}
	}
	for _, read := range []func(){
		func() { orientation = readOrientation(r, format.findExif) },
		func() { buffered.Reset(r); img, err = format.decode(buffered) },
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
