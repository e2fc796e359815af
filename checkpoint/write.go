package checkpoint

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"lockstep/internal/regular"
	"lockstep/tensor"
)

// Entry is a tensor to be written.
type Entry struct {
	// Name must be unique in a file.
	Name string
	// DType is the type of an element.
	DType DType
	// Shape is empty for a scalar.
	Shape tensor.Shape
	// Data writes the elements in row-major order, little-endian.
	Data func(w io.Writer) error
}

// Write writes a safetensors file entirely or not at all, and returns the SHA-256 of its bytes in
// hexadecimal. Equal entries, in any order, give equal bytes: those of the reference library,
// except that metadata is sorted by key. Errors are *WriteError.
func Write(path string, entries []Entry, metadata map[string]string) (sum string, err error) {
	err = regular.Replace(path, func(f io.Writer) (err error) {
		sum, err = encode(&countingWriter{w: f}, entries, metadata)
		return err
	})
	if err != nil {
		return "", &WriteError{path, err}
	}
	return sum, nil
}

// encode writes a safetensors file to out and returns its hash.
func encode(out *countingWriter, entries []Entry, metadata map[string]string) (string, error) {
	text, entries, err := layOut(entries, metadata)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	w := io.MultiWriter(out, h)
	if _, err := w.Write(text); err != nil {
		return "", err
	}
	for _, e := range entries {
		before, want := out.n, e.bytes()
		if err := e.Data(w); err != nil {
			return "", err
		}
		if got := out.n - before; got != want {
			return "", fmt.Errorf("tensor %s: %d bytes of data, want %d", quote(e.Name), got, want)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// bytes returns the size of an entry that layOut has accepted.
func (e Entry) bytes() int64 {
	f, _ := formatOf(e.DType)
	n, _ := f.size(e.Shape)
	return n
}

// Bytes returns the size of the file. It refuses what [Write] refuses.
func (f File) Bytes() (int64, error) {
	text, entries, err := layOut(f.Entries, f.Metadata)
	n := int64(len(text))
	for _, e := range entries {
		n += e.bytes()
	}
	return n, err
}

// formatOf returns the description of a type and its rank in a file; -1 if there is none.
func formatOf(d DType) (f *format, rank int) {
	all := formats()
	if rank = slices.IndexFunc(all, func(f format) bool { return f.name == d }); rank >= 0 {
		f = &all[rank]
	}
	return f, rank
}

// layOut returns the bytes before the data, and the entries in the order of their data: like the
// reference library, types with the largest alignment first, then by name.
func layOut(entries []Entry, metadata map[string]string) ([]byte, []Entry, error) {
	entries = slices.SortedFunc(slices.Values(entries), func(a, b Entry) int {
		_, i := formatOf(a.DType)
		_, j := formatOf(b.DType)
		return cmp.Or(cmp.Compare(j, i), cmp.Compare(a.Name, b.Name))
	})
	text := bytes.NewBuffer(make([]byte, lengthBytes))
	text.WriteByte('{')
	separator := ""
	if len(metadata) > 0 {
		text.WriteString(`"__metadata__":{`)
		for _, key := range slices.Sorted(maps.Keys(metadata)) {
			fmt.Fprintf(text, "%s%s:%s", separator, jsonString(key), jsonString(metadata[key]))
			separator = ","
		}
		text.WriteByte('}')
	}
	seen := map[string]bool{"__metadata__": true}
	at := int64(0)
	for _, e := range entries {
		f, rank := formatOf(e.DType)
		isFine := rank >= 0 && !seen[e.Name] && len(e.Name) <= maxName
		n := int64(0)
		if isFine {
			n, isFine = f.size(e.Shape)
		}
		if !isFine {
			return nil, nil, fmt.Errorf("tensor %s %s %v: unknown type, impossible shape, or a name "+
				"that is too long or used twice", quote(e.Name), e.DType, e.Shape)
		}
		seen[e.Name] = true
		shape, _ := json.Marshal(append([]int{}, e.Shape...))
		fmt.Fprintf(text, `%s%s:{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}`,
			separator, jsonString(e.Name), e.DType, shape, at, at+n)
		separator, at = ",", at+n
	}
	text.WriteByte('}')
	for text.Len()%lengthBytes != 0 {
		text.WriteByte(' ')
	}
	length := text.Len() - lengthBytes
	if length > maxHeader || len(entries) > maxTensors {
		return nil, nil, fmt.Errorf("header of %d bytes for %d tensors, want at most %d for %d",
			length, len(entries), maxHeader, maxTensors)
	}
	binary.LittleEndian.PutUint64(text.Bytes(), uint64(length))
	return text.Bytes(), entries, nil
}

// jsonString returns text as a JSON string with as few escapes as possible.
func jsonString(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // writing to memory cannot fail
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// countingWriter counts the bytes written through it.
type countingWriter struct {
	w io.Writer
	n int64
}

// Write implements io.Writer.
func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// newBuffer buffers writes to w.
func newBuffer(w io.Writer) *bufio.Writer { return bufio.NewWriterSize(w, chunkBytes) }
