package checkpoint

import (
	"encoding/binary"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"lockstep/graph"
	"lockstep/tensor"
)

// Save writes v to a safetensors file at path that PyTorch loads as a state_dict, and returns the
// SHA-256 of its bytes in hexadecimal. For batches and metadata see Weights. Errors are *WriteError.
func Save(path string, v *graph.Variables, batches int64, metadata map[string]string) (
	sum string, err error) {
	f := Weights(v, batches, metadata)
	return Write(path, f.Entries, f.Metadata)
}

// Weights returns a file of v's tensors: every parameter and state under its name, as F32 in
// canonical order, and beside each running_mean the num_batches_tracked of PyTorch's batch norm,
// set to batches. metadata is added to {"format": "pt"}. v must not change until the file is
// written.
func Weights(v *graph.Variables, batches int64, metadata map[string]string) File {
	f := File{Name: WeightsFile, Metadata: map[string]string{"format": "pt"}}
	var room floatWriter
	for i, p := range v.Params {
		f.Entries = append(f.Entries,
			room.entry(p.Name, p.Shape, func(dst []float32) { v.Param(i, dst) }))
	}
	for i, s := range v.States {
		f.Entries = append(f.Entries, room.entry(s.Name, s.Shape,
			func(dst []float32) { copy(dst, v.StateOf(i)) }))
		if layer, ok := strings.CutSuffix(s.Name, ".running_mean"); ok {
			f.Entries = append(f.Entries, Entry{Name: layer + "." + batchCount, DType: I64,
				Data: func(w io.Writer) error {
					_, err := w.Write(binary.LittleEndian.AppendUint64(nil, uint64(batches)))
					return err
				}})
		}
	}
	maps.Copy(f.Metadata, metadata)
	return f
}

// floatWriter writes float32 values through a buffer that holds the longest of its entries.
type floatWriter struct {
	longest int // elements
	values  []float32
	text    []byte
}

// entry returns an entry whose values fill writes to dst. Entries of one writer must be written one
// after another.
func (f *floatWriter) entry(name string, shape tensor.Shape, fill func(dst []float32)) Entry {
	f.longest = max(f.longest, shape.Elems())
	return Entry{Name: name, DType: F32, Shape: shape, Data: func(w io.Writer) error {
		if f.values == nil {
			f.values = make([]float32, f.longest)
		}
		values := f.values[:shape.Elems()]
		fill(values)
		for piece := range slices.Chunk(values, chunkBytes/16) {
			f.text = f.text[:0]
			for _, x := range piece {
				f.text = binary.LittleEndian.AppendUint32(f.text, math.Float32bits(x))
			}
			if _, err := w.Write(f.text); err != nil {
				return err
			}
		}
		return nil
	}}
}

// Export writes all of r's tensors unchanged to one safetensors file at path, with r's metadata;
// "format" is added if r has none. It returns the file's SHA-256 in hexadecimal.
func Export(path string, r *Reader) (sum string, err error) {
	var entries []Entry
	for _, t := range r.Tensors {
		entries = append(entries, Entry{Name: t.Name, DType: t.DType, Shape: t.Shape,
			Data: func(w io.Writer) error {
				return r.data(t, func(b []byte) error { _, err := w.Write(b); return err })
			}})
	}
	metadata := map[string]string{"format": "pt"}
	maps.Copy(metadata, r.Metadata)
	return Write(path, entries, metadata)
}
