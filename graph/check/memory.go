package check

import (
	"math"
	"unsafe"

	"lockstep/graph"
)

// block is the memory behind a handle.
type block struct{ elements []float32 }

// elements returns where a buffer lies.
func elements(b *graph.Buffer) []float32 {
	s := b.Device
	if s.Handle == nil {
		return nil
	}
	return s.Handle.(*block).elements[s.Offset : s.Offset+s.Len]
}

// ints returns the same memory as int32.
func ints(f []float32) []int32 {
	if len(f) == 0 {
		return nil
	}
	return unsafe.Slice((*int32)(unsafe.Pointer(&f[0])), len(f))
}

// overlap reports whether two spans share an element.
func overlap(a, b graph.Span) bool {
	return a.Handle == b.Handle && a.Handle != nil && a.Offset < b.Offset+b.Len && b.Offset < a.Offset+a.Len
}

// value is what is known about the contents of a buffer.
type value struct {
	span    graph.Span // where it was written
	lost    string     // what has been written over it since
	tainted bool       // a fault with it, or with what it was computed from, is reported already
}

// write notes that by has filled b, and what b overlaps is lost.
func (e *Executor) write(b *graph.Buffer, by string, tainted bool) {
	e.lose(b, by)
	e.values[b] = &value{span: b.Device, tainted: tainted}
}

// lose notes that by has written to where b lies.
func (e *Executor) lose(b *graph.Buffer, by string) {
	for other, v := range e.values {
		if other != b && v.lost == "" && overlap(v.span, b.Device) {
			v.lost = by
		}
	}
}

// unreadable says why b cannot be read; "" if it can.
func (e *Executor) unreadable(b *graph.Buffer) string {
	v := e.values[b]
	switch {
	case b.Device.Len == 0:
		return ""
	case v == nil:
		return e.unreadablePart(b)
	case v.span.Handle != b.Device.Handle || v.span.Offset != b.Device.Offset:
		return "nobody has written"
	case v.lost != "":
		return v.lost + " has overwritten"
	}
	return ""
}

// unreadablePart is unreadable for a buffer that other buffers are parts of, such as that of all batch
// statistics.
func (e *Executor) unreadablePart(b *graph.Buffer) string {
	why := "nobody has written"
	for _, v := range e.values {
		if s := v.span; overlap(s, b.Device) && s.Offset >= b.Device.Offset &&
			s.Offset+s.Len <= b.Device.Offset+b.Device.Len {
			if v.lost != "" {
				return v.lost + " has overwritten"
			}
			why = ""
		}
	}
	return why
}

// guardLen is how many elements lie in front of and behind each buffer that an op computes on.
const guardLen = 64

// unset is a NaN that no computation gives. It fills guards, results and scratch memory.
var unset = math.Float32frombits(0x7fa5a5a5)

func isUnset(x float32) bool { return math.Float32bits(x) == math.Float32bits(unset) }

// room returns the n elements, all unset, between the guards of the executor's buffer number i.
func (e *Executor) room(i, n int) []float32 {
	for len(e.rooms) <= i {
		e.rooms = append(e.rooms, nil)
	}
	if len(e.rooms[i]) < n+2*guardLen {
		e.rooms[i] = make([]float32, n+2*guardLen)
	}
	all := e.rooms[i][:n+2*guardLen]
	for j := range all {
		all[j] = unset
	}
	return all[guardLen : guardLen+n : guardLen+n]
}

// isGuarded reports whether the guards of buffer number i around n elements are as they were.
func (e *Executor) isGuarded(i, n int) bool {
	for j := range guardLen {
		if !isUnset(e.rooms[i][j]) || !isUnset(e.rooms[i][guardLen+n+j]) {
			return false
		}
	}
	return true
}
