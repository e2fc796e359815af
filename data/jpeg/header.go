package jpeg

import (
	"bytes"
	"encoding/binary"
)

// Markers, behind a byte 0xff.
const (
	startOfImage  = 0xd8
	endOfImage    = 0xd9
	startOfFrame  = 0xc0 // of a baseline image
	huffman       = 0xc4
	startOfScan   = 0xda
	quantities    = 0xdb
	restarts      = 0xdd
	application0  = 0xe0
	application14 = 0xee
	application15 = 0xef
	comment       = 0xfe
)

// natural is the place in a block of each value in the order of codes.
var natural = [64]byte{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
}

// readHeaders reads all segments up to the codes, and reports whether this package can decode them.
func (d *Decoder) readHeaders() bool {
	for len(d.text) >= 4 && d.text[0] == 0xff {
		marker, size := d.text[1], int(binary.BigEndian.Uint16(d.text[2:]))
		if size < 2 || 2+size > len(d.text) {
			return false
		}
		segment := d.text[4 : 2+size]
		d.text = d.text[2+size:]
		isRead := true
		switch {
		case marker == startOfFrame:
			isRead = d.num == 0 && d.readFrame(segment)
		case marker == huffman:
			isRead = d.readTables(segment)
		case marker == quantities:
			isRead = d.readQuantities(segment)
		case marker == restarts:
			if isRead = len(segment) == 2; isRead {
				d.interval = int(binary.BigEndian.Uint16(segment))
			}
		case marker == startOfScan:
			return d.num > 0 && d.readScan(segment)
		case marker == application14 && bytes.HasPrefix(segment, []byte("Adobe")):
			isRead = len(segment) == 12 && segment[11] == 1 // YCbCr
		default:
			isRead = marker >= application0 && marker <= application15 || marker == comment
		}
		if !isRead {
			return false
		}
	}
	return false
}

// readFrame reads the size and the components.
func (d *Decoder) readFrame(s []byte) bool {
	if len(s) < 6 || s[0] != 8 || s[5] != 1 && s[5] != 3 || len(s) != 6+3*int(s[5]) {
		return false
	}
	d.height, d.width = int(binary.BigEndian.Uint16(s[1:])), int(binary.BigEndian.Uint16(s[3:]))
	d.num = int(s[5])
	for i := range d.num {
		c := s[6+3*i:]
		d.parts[i] = component{id: c[0], across: c[1] >> 4, down: c[1] & 15, quant: c[2]}
		isFactor := func(n byte) bool { return n == 1 || n == 2 || n == 4 }
		if c[2] > 3 || !isFactor(d.parts[i].across) || !isFactor(d.parts[i].down) {
			return false
		}
	}
	y := &d.parts[0]
	if d.num == 1 {
		y.across, y.down = 1, 1 // as the standard has it for one component
		return d.width > 0 && d.height > 0
	}
	d.isRGB = y.id == 'R' && d.parts[1].id == 'G' && d.parts[2].id == 'B'
	isKnown := y.across == 1 && y.down == 1 || y.across == 2 && (y.down == 1 || y.down == 2)
	for i, p := range d.parts[1:] {
		isKnown = isKnown && p.across == 1 && p.down == 1 && p.id != y.id && (i == 0 || p.id != d.parts[1].id)
	}
	return isKnown && d.width > 0 && d.height > 0
}

// readTables reads Huffman tables.
func (d *Decoder) readTables(s []byte) bool {
	for len(s) > 0 {
		if len(s) < 17 || s[0]>>4 > 1 || s[0]&15 > 1 {
			return false
		}
		num := 0
		for _, n := range s[1:17] {
			num += int(n)
		}
		if num < 1 || num > 256 || len(s) < 17+num || !d.tables[s[0]>>4][s[0]&15].set(s[1:17+num]) {
			return false
		}
		s = s[17+num:]
	}
	return true
}

// readQuantities reads what values are multiplied by.
func (d *Decoder) readQuantities(s []byte) bool {
	for len(s) > 0 {
		if len(s) < 65 || s[0] > 3 { // of a byte each
			return false
		}
		q := &d.quant[s[0]]
		for i, x := range s[1:65] {
			q[i] = int32(x)
		}
		d.hasQuant[s[0]], s = true, s[65:]
	}
	return true
}

// readScan reads which tables the components have in the one scan.
func (d *Decoder) readScan(s []byte) bool {
	n := d.num
	if len(s) != 4+2*n || int(s[0]) != n || s[1+2*n] != 0 || s[2+2*n] != 63 || s[3+2*n] != 0 {
		return false
	}
	for i := range n {
		c := s[1+2*i:]
		p := &d.parts[i]
		if c[0] != p.id || c[1]>>4 > 1 || c[1]&15 > 1 {
			return false
		}
		p.dc, p.ac = &d.tables[0][c[1]>>4], &d.tables[1][c[1]&15]
		if !p.dc.isSet || !p.ac.isSet || !d.hasQuant[p.quant] {
			return false
		}
	}
	return true
}

// behind is the room after the codes: a block has at most 64 values of 31 bits.
const behind = 1024

// unstuff copies the codes up to the end of the image to d.clean, without the zero behind each byte 0xff, and
// notes where restarts are. It reports whether what follows the codes is the end of the image.
func (d *Decoder) unstuff() bool {
	d.ends = d.ends[:0]
	if cap(d.clean) < len(d.text)+behind {
		d.clean = make([]byte, 0, len(d.text)+behind)
	}
	clean, text := d.clean[:0], d.text
	for {
		i := bytes.IndexByte(text, 0xff)
		if i < 0 || i+1 >= len(text) {
			return false
		}
		marker := text[i+1]
		switch {
		case marker == 0:
			clean = append(clean, text[:i+1]...)
		case marker>>3 == 0xd0>>3: // one of eight, in turns
			clean = append(clean, text[:i]...)
			if d.interval == 0 || int(marker&7) != len(d.ends)%8 {
				return false
			}
			d.ends = append(d.ends, len(clean))
		case marker == endOfImage:
			clean = append(clean, text[:i]...)
			d.ends = append(d.ends, len(clean))
			d.clean = clean[:len(clean)+behind]
			clear(d.clean[len(clean):])
			return true
		default:
			return false
		}
		text = text[i+2:]
	}
}
