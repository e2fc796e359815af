package data

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"image"
	"io"

	"golang.org/x/image/webp"
)

// Note: WebP
//
// A lossy WebP holds video colours: luma from 16 to 235, and colours at half the size. They become RGB as
// libwebp does it, which Pillow uses: the four nearest colours weighted by 9, 3, 3 and 1, and products of 14
// bits. Its transparency is dropped, as everywhere. Moving images are refused.

// videoImage is an image whose planes hold video colours.
type videoImage struct{ *image.YCbCr }

// decodeWebP decodes a WebP.
func decodeWebP(r io.Reader) (image.Image, error) {
	img, err := webp.Decode(r)
	switch img := img.(type) {
	case *image.YCbCr:
		return videoImage{img}, err
	case *image.NYCbCrA:
		return videoImage{&img.YCbCr}, err
	}
	return img, err
}

// draw fills dst with the part of v from corner on.
func (v videoImage) draw(dst *image.RGBA, corner image.Point) {
	for y := range dst.Rect.Dy() {
		row := dst.Pix[y*dst.Stride:]
		for x := range dst.Rect.Dx() {
			at := corner.Add(image.Pt(x, y))
			luma := int(v.Y[v.YOffset(at.X, at.Y)]) * 19077 >> 8
			blue, red := v.colour(v.Cb, at), v.colour(v.Cr, at)
			p := row[4*x:][:4]
			p[0] = videoByte(luma + red*26149>>8 - 14234)
			p[1] = videoByte(luma - blue*6419>>8 - red*13320>>8 + 8708)
			p[2] = videoByte(luma + blue*33050>>8 - 17685)
			p[3] = 255
		}
	}
}

// colour returns the colour of a plane at a pixel.
func (v videoImage) colour(plane []byte, at image.Point) int {
	at = at.Sub(v.Rect.Min)
	x, y := at.X/2, at.Y/2
	besides := func(at, most int) int { return min(max(at/2+at%2*2-1, 0), most) }
	otherX, otherY := besides(at.X, (v.Rect.Dx()-1)/2), besides(at.Y, (v.Rect.Dy()-1)/2)
	near, across := int(plane[y*v.CStride+x]), int(plane[y*v.CStride+otherX])
	down, far := int(plane[otherY*v.CStride+x]), int(plane[otherY*v.CStride+otherX])
	return ((near+3*across+3*down+far+8)>>3 + near) >> 1
}

// videoByte returns the byte of a colour with six bits behind the point.
func videoByte(v int) byte { return byte(min(max(v>>6, 0), 255)) }

// webpExif returns the Exif of a WebP; nil if there is none.
func webpExif(r *bufio.Reader) []byte {
	skipped := 12 // RIFF, size, WEBP
	for {
		_, err := r.Discard(skipped)
		head, failed := r.Peek(8) // kind and size of a chunk
		if err != nil || failed != nil {
			return nil
		}
		size := int(binary.LittleEndian.Uint32(head[4:]))
		if string(head[:4]) == "EXIF" {
			chunk := make([]byte, len(head)+min(size, maxExif))
			n, _ := io.ReadFull(r, chunk) // what there is
			return bytes.TrimPrefix(chunk[len(head):max(n, len(head))], []byte("Exif\x00\x00"))
		}
		skipped = len(head) + size + size%2
	}
}
