package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"lockstep/internal/regular"
)

// maxHeader bounds the bytes of a header. NumPy's own bound is 10,000 characters.
const maxHeader = 1 << 16

// File is an array in a file that is open. Its methods are safe for concurrent use.
type File struct {
	// Kind is the type of an element in NumPy's words, such as "u1", "i8" or "f4".
	Kind string
	// Shape is that of the array, with at least one axis; no element is negative.
	Shape []int

	file     *os.File
	begin    int64 // of the elements
	size     int64 // of the file
	modified int64 // when it was, in nanoseconds of Unix time
	reads    atomic.Int64
}

// Open opens the array at path. The caller closes it.
func Open(path string) (*File, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	a := &File{file: f}
	if err := a.readHeader(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return a, nil
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Rows returns the length of the first axis.
func (f *File) Rows() int { return f.Shape[0] }

// RowElems returns the number of elements of a row.
func (f *File) RowElems() int {
	n := 1
	for _, d := range f.Shape[1:] {
		n *= d
	}
	return n
}

// ElemBytes returns the size of an element.
func (f *File) ElemBytes() int { return int(f.Kind[1] - '0') }

// checkEvery is how many reads pass between two looks at whether the file has changed.
const checkEvery = 256

// ReadRows fills dst with whole rows from row first on.
func (f *File) ReadRows(dst []byte, first int) error {
	row := int64(f.RowElems()) * int64(f.ElemBytes())
	if first < 0 || row == 0 || int64(len(dst))%row != 0 ||
		int64(first)+int64(len(dst))/row > int64(f.Rows()) {
		panic(fmt.Sprintf("npy: %d bytes from row %d of %v", len(dst), first, f.Shape))
	}
	if f.reads.Add(1)%checkEvery == 1 {
		if err := f.hasChanged(); err != nil {
			return err
		}
	}
	n, err := f.file.ReadAt(dst, f.begin+int64(first)*row)
	if err == io.EOF {
		return fmt.Errorf("ends in row %d; it has changed since it was opened", int64(first)+int64(n)/row)
	}
	return err
}

// hasChanged returns an error if the file has another size or date than when it was opened.
func (f *File) hasChanged() error {
	size, modified, err := regular.Stamp(f.file)
	if err == nil && (size != f.size || modified != f.modified) {
		date := func(ns int64) string { return time.Unix(0, ns).Format(time.DateTime) }
		err = fmt.Errorf("changed while it was read: %d bytes of %s, and %d of %s when it was opened", size,
			date(modified), f.size, date(f.modified))
	}
	return err
}

// readHeader fills f by the header and checks the file's size against it.
func (f *File) readHeader() error {
	var err error
	if f.size, f.modified, err = regular.Stamp(f.file); err != nil {
		return err
	}
	head := make([]byte, min(f.size, maxHeader+12))
	if _, err := f.file.ReadAt(head, 0); err != nil && err != io.EOF {
		return err
	}
	if !bytes.HasPrefix(head, []byte("\x93NUMPY")) || len(head) < 12 {
		return errors.New("no .npy file: it does not begin with \\x93NUMPY")
	}
	length, begin := int64(binary.LittleEndian.Uint16(head[8:])), int64(10)
	switch head[6] {
	case 1:
	case 2, 3:
		length, begin = int64(binary.LittleEndian.Uint32(head[8:])), 12
	default:
		return fmt.Errorf("version %d of the format, want 1, 2 or 3", head[6])
	}
	f.begin = begin + length
	if f.begin > int64(len(head)) {
		return fmt.Errorf("a header of %d bytes, want at most %d and those of the file", length, maxHeader)
	}
	if err := f.parse(string(head[begin:f.begin])); err != nil {
		return err
	}
	elems := int64(1)
	for _, d := range f.Shape {
		if d > 0 && elems > math.MaxInt64/8/int64(d) {
			return fmt.Errorf("shape %v is larger than any file", f.Shape)
		}
		elems *= int64(d)
	}
	if want := f.begin + elems*int64(f.ElemBytes()); want != f.size {
		return fmt.Errorf("%d bytes, want %d for %v elements of %s", f.size, want, f.Shape, f.Kind)
	}
	return nil
}

// parse reads the header's dictionary, of which NumPy writes the keys in this way only.
func (f *File) parse(header string) error {
	field := func(pattern string) string {
		found := regexp.MustCompile(pattern).FindStringSubmatch(header)
		if found == nil {
			return ""
		}
		return found[1]
	}
	kind := field(`'descr':\s*'([^']*)'`)
	switch field(`'fortran_order':\s*(True|False)`) {
	case "True":
		return errors.New("in Fortran order; write it with numpy.ascontiguousarray")
	case "":
		return errors.New("a header without fortran_order")
	}
	if !regexp.MustCompile(`^[<|=]?(u[1248]|i[1248]|f[48]|b1)$`).MatchString(kind) {
		return fmt.Errorf("elements of type %.20q, want little-endian numbers, such as <f4 or |u1", kind)
	}
	f.Kind = strings.TrimLeft(kind, "<|=")
	for _, axis := range strings.Split(field(`'shape':\s*\(([0-9, ]*)\)`), ",") {
		if axis = strings.TrimSpace(axis); axis == "" {
			continue
		}
		n, err := strconv.Atoi(axis)
		if err != nil || n > math.MaxInt32 {
			return fmt.Errorf("an axis of %.20s elements, want at most %d", axis, math.MaxInt32)
		}
		f.Shape = append(f.Shape, n)
	}
	if f.Shape == nil {
		return errors.New("a single number, or no shape; want rows")
	}
	return nil
}

// Integers reads a whole array of whole numbers with one axis, [N] or [N, 1].
func (f *File) Integers() (all []int64, err error) {
	if f.RowElems() != 1 || f.Kind[0] == 'f' {
		return nil, fmt.Errorf("%v elements of %s, want whole numbers, one for each row", f.Shape, f.Kind)
	}
	err = f.each(func(elem []byte) { all = append(all, integer(elem, f.Kind[0] == 'i')) })
	return all, err
}

// Floats reads a whole array of numbers, row after row, each rounded to float32.
func (f *File) Floats() (all []float32, err error) {
	err = f.each(func(elem []byte) {
		switch f.Kind {
		case "f4":
			all = append(all, math.Float32frombits(binary.LittleEndian.Uint32(elem)))
		case "f8":
			all = append(all, float32(math.Float64frombits(binary.LittleEndian.Uint64(elem))))
		default:
			all = append(all, float32(integer(elem, f.Kind[0] == 'i')))
		}
	})
	return all, err
}

// each calls take for each element of the whole array.
func (f *File) each(take func(elem []byte)) error {
	const atOnce = 1 << 15 // bytes, about
	size, row := f.ElemBytes(), f.RowElems()*f.ElemBytes()
	if row == 0 {
		return nil
	}
	rows := max(1, atOnce/row)
	buffer := make([]byte, min(rows, f.Rows())*row)
	for first := 0; first < f.Rows(); first += rows {
		part := buffer[:row*min(rows, f.Rows()-first)]
		if err := f.ReadRows(part, first); err != nil {
			return err
		}
		for i := 0; i < len(part); i += size {
			take(part[i : i+size])
		}
	}
	return nil
}

// integer reads a little-endian number.
func integer(b []byte, isSigned bool) int64 {
	var word [8]byte
	copy(word[:], b)
	n := int64(binary.LittleEndian.Uint64(word[:]))
	if shift := 64 - 8*len(b); isSigned {
		n = n << shift >> shift
	}
	return n
}
