package data

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"image"
	"io"
)

// Note: orientation
//
// A camera stores an image as its sensor had it, and in tag 0x0112 of Exif how to turn it: a number from 1,
// upright, to 8. Exif is a TIFF file in segment APP1 of a JPEG, behind "Exif\0\0", or in a chunk of a PNG or
// WebP. An unreadable or missing orientation is 1. Pillow also asks XMP for one, which is not read here.

// maxExif bounds the bytes of an Exif that are read; a segment of a JPEG has at most so many.
const maxExif = 1 << 16

// readOrientation returns the orientation of an image in whose file find finds the Exif.
func readOrientation(r io.Reader, find func(*bufio.Reader) []byte) int {
	return orientationOf(find(bufio.NewReader(r)))
}

// jpegExif returns the Exif of a JPEG; nil if there is none before its image.
func jpegExif(r *bufio.Reader) []byte {
	const app1, startOfScan = 0xe1, 0xda
	skipped := 2 // the start of the image
	for {
		_, err := r.Discard(skipped)
		head, failed := r.Peek(4) // kind and size of a segment
		switch {
		case err != nil || failed != nil || head[0] != 0xff || head[1] == startOfScan:
			return nil
		case head[1] == 0xff: // a fill byte
			skipped = 1
			continue
		}
		skipped = 2 + int(binary.BigEndian.Uint16(head[2:]))
		if head[1] != app1 {
			continue
		}
		segment := make([]byte, max(len(head), skipped))
		if _, err := io.ReadFull(r, segment); err != nil {
			return nil
		}
		if exif, isExif := bytes.CutPrefix(segment[len(head):], []byte("Exif\x00\x00")); isExif {
			return exif
		}
		skipped = 0
	}
}

// pngExif returns the Exif of a PNG; nil if there is none.
func pngExif(r *bufio.Reader) []byte {
	skipped := 8 // the signature
	for {
		_, err := r.Discard(skipped)
		head, failed := r.Peek(8) // size and kind of a chunk
		if err != nil || failed != nil {
			return nil
		}
		size := int(binary.BigEndian.Uint32(head))
		if string(head[4:]) == "eXIf" {
			chunk := make([]byte, len(head)+min(size, maxExif))
			n, _ := io.ReadFull(r, chunk) // what there is
			return chunk[len(head):n]
		}
		skipped = len(head) + size + 4 // with its checksum
	}
}

// orientationOf returns the orientation in the first directory of a TIFF file; 1 if there is none.
func orientationOf(tiff []byte) int {
	const tag, short = 0x0112, 3
	if len(tiff) < 8 {
		return 1
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if tiff[0] == 'M' {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	n := int(order.Uint16(tiff[at:]))
	for entry := tiff[at+2:]; n > 0 && len(entry) >= 12; n, entry = n-1, entry[12:] {
		if order.Uint16(entry) != tag {
			continue
		}
		if value := int(order.Uint16(entry[8:])); order.Uint16(entry[2:]) == short && value <= 8 {
			return max(1, value)
		}
		break
	}
	return 1
}

// turn says how an image is turned upright: pixel (x, y) is that of the stored image at (x, y), or at (y, x)
// if isSwapped, after mirroring along the stored axes.
type turn struct{ isSwapped, mirrorsX, mirrorsY bool }

// turnOf returns what an orientation, 1 to 8, asks for.
func turnOf(orientation int) turn {
	o := orientation
	return turn{isSwapped: o >= 5, mirrorsX: o == 2 || o == 3 || o == 7 || o == 8,
		mirrorsY: o == 3 || o == 4 || o == 6 || o == 7}
}

// corner returns the corner in a stored image of size w x h of the square of side n that is in the middle of
// the upright image.
func (t turn) corner(w, h, n int) image.Point {
	at := image.Pt((w-n)/2, (h-n)/2)
	if t.mirrorsX {
		at.X = w - n - at.X
	}
	if t.mirrorsY {
		at.Y = h - n - at.Y
	}
	return at
}

// upright turns a stored image, from (0, 0) on, upright.
func (t turn) upright(stored *image.RGBA) *image.RGBA {
	if t == (turn{}) {
		return stored
	}
	w, h := stored.Rect.Dx(), stored.Rect.Dy()
	upright := image.NewRGBA(stored.Rect)
	if t.isSwapped {
		upright = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range upright.Rect.Dy() {
		for x := range upright.Rect.Dx() {
			from := image.Pt(x, y)
			if t.isSwapped {
				from = image.Pt(y, x)
			}
			if t.mirrorsX {
				from.X = w - 1 - from.X
			}
			if t.mirrorsY {
				from.Y = h - 1 - from.Y
			}
			copy(upright.Pix[y*upright.Stride+4*x:][:4], stored.Pix[from.Y*stored.Stride+4*from.X:])
		}
	}
	return upright
}
