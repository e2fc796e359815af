package checkpoint

import (
	"bytes"
	"math"
	"strconv"

	"lockstep/tensor"
)

// Difference says how the tensors of one name differ between two files.
type Difference struct {
	// Name is the tensor's name.
	Name string `json:"name"`
	// Kind is "equal" (the same bits), "changed", "misshapen" (another shape or type), "added" (in
	// the second file only) or "removed" (in the first only).
	Kind string `json:"kind"`
	// Shape and OtherShape are those in the first and the second file; null where the tensor is
	// missing.
	Shape      tensor.Shape `json:"shape"`
	OtherShape tensor.Shape `json:"other_shape"`
	// DType and OtherDType are the types; "" where the tensor is missing.
	DType      DType `json:"dtype"`
	OtherDType DType `json:"other_dtype"`
	// MaxAbs is the largest |a-b|, MaxRel the largest |a-b| / max(|a|, |b|) over the elements of a
	// changed tensor. A NaN counts as +Inf unless both elements have the same bits. Null for a
	// tensor whose values cannot be read.
	MaxAbs *Number `json:"max_abs,omitempty"`
	// MaxRel is described at MaxAbs.
	MaxRel *Number `json:"max_rel,omitempty"`
}

// Number is a float64 that is a string in JSON where JSON has no number: "+Inf".
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	text := strconv.FormatFloat(float64(n), 'g', -1, 64)
	if math.IsInf(float64(n), 0) {
		text = strconv.Quote(text)
	}
	return []byte(text), nil
}

// Kinds of Difference.
const (
	Equal     = "equal"
	Changed   = "changed"
	Misshapen = "misshapen"
	Added     = "added"
	Removed   = "removed"
)

// Compare returns the difference of every tensor: those of a in a's order, then those only in b.
// Names must be identical to match. Errors: *ReadError.
func Compare(a, b *Reader) ([]Difference, error) {
	var list []Difference
	for _, t := range a.Tensors {
		d := Difference{Name: t.Name, Kind: Removed, Shape: shapeOf(t), DType: t.DType}
		if u, ok := b.Find(t.Name); ok {
			d.OtherShape, d.OtherDType, d.Kind = shapeOf(u), u.DType, Misshapen
			if u.DType == t.DType && u.Shape.Equal(t.Shape) {
				if err := d.compareData(a, t, b, u); err != nil {
					return nil, err
				}
			}
		}
		list = append(list, d)
	}
	for _, u := range b.Tensors {
		if _, ok := a.Find(u.Name); !ok {
			list = append(list, Difference{Name: u.Name, Kind: Added, OtherShape: shapeOf(u),
				OtherDType: u.DType})
		}
	}
	return list, nil
}

// shapeOf returns t's shape, which is not nil for a scalar.
func shapeOf(t Tensor) tensor.Shape { return append(tensor.Shape{}, t.Shape...) }

// compareData compares t of a with u of b, which have the same type and shape.
func (d *Difference) compareData(a *Reader, t Tensor, b *Reader, u Tensor) error {
	d.Kind = Equal
	var maxAbs, maxRel float64
	for at := int64(0); at < t.Bytes; at += chunkBytes {
		n := min(chunkBytes, t.Bytes-at)
		left, right := t.part(at, n), u.part(at, n)
		err := a.data(left, func(p []byte) error {
			return b.data(right, func(q []byte) error {
				if bytes.Equal(p, q) {
					return nil
				}
				d.Kind = Changed
				abs, rel := t.format.distance(p, q)
				maxAbs, maxRel = max(maxAbs, abs), max(maxRel, rel)
				return nil
			})
		})
		if err != nil {
			return err
		}
	}
	if d.Kind == Changed && t.format.value != nil {
		d.MaxAbs, d.MaxRel = (*Number)(&maxAbs), (*Number)(&maxRel)
	}
	return nil
}

// part returns t restricted to the bytes [at, at+n) of its data.
func (t Tensor) part(at, n int64) Tensor {
	t.offset, t.Bytes = t.offset+at, n
	return t
}

// distance returns the largest absolute and relative difference between elements of p and q.
func (f *format) distance(p, q []byte) (abs, rel float64) {
	if f.value == nil {
		return 0, 0
	}
	width := int(f.bits / 8)
	for i := 0; i < len(p); i += width {
		if bytes.Equal(p[i:i+width], q[i:i+width]) {
			continue
		}
		x, y := f.value(p[i:]), f.value(q[i:])
		diff, size := math.Abs(x-y), max(math.Abs(x), math.Abs(y))
		if math.IsNaN(diff) || math.IsInf(diff, 0) {
			return math.Inf(1), math.Inf(1)
		}
		abs = max(abs, diff)
		if size > 0 {
			rel = max(rel, diff/size)
		}
	}
	return abs, rel
}
