package jpeg

import (
	"encoding/binary"
	"image"
)

// component is one plane of an image.
type component struct {
	id, across, down byte // blocks of a unit in each direction
	quant            byte
	dc, ac           *table
	last             int32 // DC of the block before
	pixels           []byte
	stride           int
}

// Decoder decodes one image after another in memory that is used again.
type Decoder struct {
	text          []byte // what is left to read
	width, height int
	parts         [3]component
	num           int
	quant         [4][64]int32 // in the order of the codes
	hasQuant      [4]bool
	tables        [2][2]table // of DC and AC
	interval      int         // units between restarts; 0: none
	isRGB         bool
	clean         []byte // the codes, without stuffing
	ends          []int  // of each interval of them
	planes        [3][]byte
	grey          image.Gray
	colour        image.YCbCr
}

// Decode returns the image that text is, of which the part that want names for a width and height is decoded,
// and the rest is arbitrary. It is valid until the next call. isPlain is false of an image that this package
// does not decode, and if want returns an empty part.
func (d *Decoder) Decode(text []byte, want func(width, height int) image.Rectangle) (img image.Image,
	isPlain bool) {
	d.text, d.num, d.interval, d.isRGB = text, 0, 0, false
	d.hasQuant = [4]bool{}
	for i := range d.tables {
		for k := range d.tables[i] {
			d.tables[i][k].isSet = false
		}
	}
	if len(text) < 2 || text[0] != 0xff || text[1] != startOfImage {
		return nil, false
	}
	d.text = text[2:]
	if !d.readHeaders() || d.isRGB {
		return nil, false
	}
	part := want(d.width, d.height)
	if part.Empty() || !part.In(image.Rect(0, 0, d.width, d.height)) || !d.unstuff() {
		return nil, false
	}
	return d.decodePart(part)
}

// decodePart decodes the units that part touches. Those above and beside it are only read.
func (d *Decoder) decodePart(part image.Rectangle) (image.Image, bool) {
	unitW, unitH := 8*int(d.parts[0].across), 8*int(d.parts[0].down)
	across, down := (d.width+unitW-1)/unitW, (d.height+unitH-1)/unitH
	d.allot(across, down)
	touched := image.Rect(part.Min.X/unitW, part.Min.Y/unitH, (part.Max.X+unitW-1)/unitW,
		(part.Max.Y+unitH-1)/unitH)
	r := reader{text: d.clean}
	left, interval := d.interval, 0
	for y := range touched.Max.Y {
		for x := range across {
			if d.interval > 0 && left == 0 {
				if !r.begin(d.ends, interval) {
					return nil, false
				}
				interval, left = interval+1, d.interval
				for i := range d.num {
					d.parts[i].last = 0
				}
			}
			left--
			isOK := false
			if y >= touched.Min.Y && x >= touched.Min.X && x < touched.Max.X {
				isOK = d.decodeUnit(&r, x, y)
			} else {
				isOK = d.skipUnit(&r)
			}
			if !isOK || r.isBeyond(d.ends[interval]) {
				return nil, false
			}
		}
	}
	return d.image(), true
}

// allot makes room for planes of so many units.
func (d *Decoder) allot(across, down int) {
	for i := range d.num {
		p := &d.parts[i]
		p.last, p.stride = 0, 8*int(p.across)*across
		size := p.stride * 8 * int(p.down) * down
		if cap(d.planes[i]) < size {
			d.planes[i] = make([]byte, size)
		}
		p.pixels = d.planes[i][:size]
	}
}

// image returns what the planes hold.
func (d *Decoder) image() image.Image {
	bounds := image.Rect(0, 0, d.width, d.height)
	if d.num == 1 {
		d.grey = image.Gray{Pix: d.parts[0].pixels, Stride: d.parts[0].stride, Rect: bounds}
		return &d.grey
	}
	ratio := image.YCbCrSubsampleRatio444
	switch d.parts[0].across<<4 | d.parts[0].down {
	case 0x21:
		ratio = image.YCbCrSubsampleRatio422
	case 0x22:
		ratio = image.YCbCrSubsampleRatio420
	}
	d.colour = image.YCbCr{Y: d.parts[0].pixels, Cb: d.parts[1].pixels, Cr: d.parts[2].pixels,
		YStride: d.parts[0].stride, CStride: d.parts[1].stride, SubsampleRatio: ratio, Rect: bounds}
	return &d.colour
}

// decodeUnit decodes the blocks of the unit at column x and row y.
func (d *Decoder) decodeUnit(r *reader, x, y int) bool {
	for i := range d.num {
		p := &d.parts[i]
		for k := range int(p.across * p.down) {
			var b block
			last := r.decode(&b, p, &d.quant[p.quant])
			if last < 0 {
				return false
			}
			column, row := x*int(p.across)+k%int(p.across), y*int(p.down)+k/int(p.across)
			b.put(p.pixels[8*(row*p.stride+column):], p.stride, last)
		}
	}
	return true
}

// skipUnit reads the blocks of a unit.
func (d *Decoder) skipUnit(r *reader) bool {
	for i := range d.num {
		p := &d.parts[i]
		for range int(p.across * p.down) {
			if !r.skip(p) {
				return false
			}
		}
	}
	return true
}

// reader reads codes from clean text, which has room behind its end.
type reader struct {
	text []byte
	at   int    // of the next byte
	bits uint64 // the next bits, from the highest on
	n    uint   // how many of them count
}

// begin goes on behind the end of an interval, of which less than a byte may be left.
func (r *reader) begin(ends []int, interval int) bool {
	if left := 8*(ends[interval]-r.at) + int(r.n); left < 0 || left >= 8 || interval+1 >= len(ends) {
		return false
	}
	r.at, r.bits, r.n = ends[interval], 0, 0
	return true
}

// isBeyond reports whether more has been read than there is before end.
func (r *reader) isBeyond(end int) bool { return 8*(r.at-end) > int(r.n) }

// decode reads a block, times the quantities of a component, and returns the number of its last value in the
// order of codes; -1 if it is damaged.
func (r *reader) decode(b *block, p *component, quant *[64]int32) (last int) {
	text, at, bits, n := r.text, r.at, r.bits, r.n
	if at+8*64 > len(text) {
		return -1
	}
	if n < 32 {
		bits |= binary.BigEndian.Uint64(text[at:]) >> n
		at, n = at+int((63-n)>>3), n|56
	}
	symbol, size := p.dc.look(bits)
	bits, n = bits<<size, n-size
	if symbol > 15 || size == 0 {
		return -1
	}
	p.last += extend(bits, symbol)
	bits, n = bits<<symbol, n-uint(symbol)
	b[0] = p.last * quant[0]
	for k := 1; k < 64; k++ {
		if n < 32 {
			bits |= binary.BigEndian.Uint64(text[at:]) >> n
			at, n = at+int((63-n)>>3), n|56
		}
		if e := p.ac.values[bits>>(64-tableBits)]; e != 0 {
			k += int(e >> 8 & 0xff)
			size := uint(e & 0xff)
			bits, n = bits<<(size&63), n-size
			if k > 63 {
				return -1
			}
			b[natural[k]&63] = e >> 16 * quant[k]
			last = k
			continue
		}
		symbol, size := p.ac.look(bits)
		bits, n = bits<<size, n-size
		run, width := int(symbol>>4), symbol&15
		switch {
		case size == 0 || width == 0 && run != 0 && run != 15:
			return -1
		case width == 0 && run == 0:
			r.at, r.bits, r.n = at, bits, n
			return last
		}
		if k += run; k > 63 {
			return -1
		}
		if width > 0 {
			b[natural[k]&63] = extend(bits, width) * quant[k]
			bits, n = bits<<width, n-uint(width)
			last = k
		}
	}
	r.at, r.bits, r.n = at, bits, n
	return last
}

// skip reads a block and keeps only its DC.
func (r *reader) skip(p *component) bool {
	text, at, bits, n := r.text, r.at, r.bits, r.n
	if at+8*64 > len(text) {
		return false
	}
	if n < 32 {
		bits |= binary.BigEndian.Uint64(text[at:]) >> n
		at, n = at+int((63-n)>>3), n|56
	}
	symbol, size := p.dc.look(bits)
	bits, n = bits<<size, n-size
	if symbol > 15 || size == 0 {
		return false
	}
	p.last += extend(bits, symbol)
	bits, n = bits<<symbol, n-uint(symbol)
	for k := 1; k < 64; k++ {
		if n < 32 {
			bits |= binary.BigEndian.Uint64(text[at:]) >> n
			at, n = at+int((63-n)>>3), n|56
		}
		symbol, size := p.ac.look(bits)
		run, width := int(symbol>>4), uint(symbol&15)
		bits, n = bits<<(size+width), n-size-width
		if size == 0 || width == 0 && run != 0 && run != 15 {
			return false
		}
		if width == 0 && run == 0 {
			break
		}
		if k += run; k > 63 {
			return false
		}
	}
	r.at, r.bits, r.n = at, bits, n
	return true
}

// extend returns the number that the first width bits, 0 to 15, say: half of them are negative.
func extend(bits uint64, width byte) int32 {
	v := int32(bits >> 1 >> (63 - width&63))
	if v < 1<<width>>1 {
		v += -1<<width + 1
	}
	return v
}
