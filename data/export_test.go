package data

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// Readers of single files, for fuzzing.
var (
	DecodeCIFAR = decodeCIFAR
	ReadIDX     = readIDX
)

// Bytes of a CIFAR-10 record and of a batch file.
const (
	CIFARRecord = cifarRecord
	CIFARBytes  = cifarRecords * cifarRecord
)

// ReadCIFARArchive reads the data set from an archive.
func ReadCIFARArchive(ctx context.Context, path string) (train, test *Set, err error) {
	return readCIFAR10(ctx, path, Options{})
}

// DecodeSVHN reads one file of the set.
func DecodeSVHN(r io.Reader, file string) (*Set, error) {
	s := &Set{}
	return s, s.appendSVHN(r, file)
}

// ReadMAT returns the arrays of a MATLAB file as "name axes elements".
func ReadMAT(r io.Reader, file string) (arrays []string, err error) {
	err = readMAT(r, file, func(a matArray) error {
		elements := make([]byte, min(a.size, 1<<10))
		if err := a.data.full(elements, "the elements"); err != nil {
			return err
		}
		arrays = append(arrays, fmt.Sprintf("%q %v %x", a.name, a.axes, elements))
		return a.data.skip(int64(a.size-len(elements)), "the elements")
	})
	return arrays, err
}

// ReadArchive reads CIFAR-10 from an archive whose files have so many records each.
func ReadArchive(r io.Reader, file string, records int) (train, test *Set, err error) {
	c := newCIFAR10(file, records)
	return c.train, c.test, c.readArchive(r, file)
}

// DecodeImage decodes a PNG, JPEG or WebP file.
var DecodeImage = decodeImage

// Records returns the records of a file, each as "line: field|field".
func Records(file io.Reader, name string) ([]string, error) {
	r := newRecordReader(file, name)
	var records []string
	for {
		fields, line, err := r.next()
		if err == io.EOF {
			return records, nil
		} else if err != nil {
			return records, err
		}
		records = append(records, fmt.Sprintf("%d: %s", line, strings.Join(fields, "|")))
	}
}

// FetchFile downloads one file into folder, giving up after stall without data.
func FetchFile(ctx context.Context, folder string, file File, stall time.Duration,
	progress func(Progress)) error {
	f := newFetcher(progress)
	defer f.close()
	f.stall = stall
	return f.fetch(ctx, folder, file)
}

// Bounded returns r cut off with an error after n bytes.
func Bounded(r io.Reader, n int64) io.Reader { return &boundedReader{r: r, left: n} }

// Place writes src in the pose (dy, dx, flip), normalised by the set's table.
func (s *Set) Place(dst []float32, src []byte, dy, dx int, flip bool) {
	var t byteTable
	t.fill(s.Mean, s.Std)
	t.place(dst, src, s.Shape[0], s.Shape[1], s.Shape[2], pose{dy, dx, flip})
}

// Draw returns the pose of a sample.
func (a Augmentation) Draw(seed uint64, epoch, sample int) (dy, dx int, flip bool) {
	p := a.draw(seed, epoch, sample)
	return p.dy, p.dx, p.flip
}

// DrawHole returns the hole of a sample.
func (a Augmentation) DrawHole(seed uint64, epoch, sample, height, width int) (top, bottom, left,
	right int) {
	h := a.drawHole(seed, epoch, sample, height, width)
	return h.top, h.bottom, h.left, h.right
}

// Resize scales a square of RGBA pixels to one of RGB pixels.
func Resize(src []byte, from, to int) []byte {
	dst := make([]byte, to*to*3)
	newResizer(from, to).scale(dst, src, from*4)
	return dst
}
