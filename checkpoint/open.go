package checkpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
)

// Names of the files that a folder of weights may hold.
const (
	// WeightsFile holds all tensors.
	WeightsFile = "model.safetensors"
	// IndexFile lists which of several files holds which tensor.
	IndexFile = "model.safetensors.index.json"
)

// Reader gives access to the tensors of one file, or of several with an index.
type Reader struct {
	// Path is what was opened: the file, or the index.
	Path string
	// Tensors lists the tensors in the order of their data, file by file.
	Tensors []Tensor
	// Metadata is the metadata of all files together.
	Metadata map[string]string

	files  []*file
	byName map[string]int
}

// Open opens a safetensors file, an index of several files, or a folder with model.safetensors,
// model.safetensors.index.json, or a single file of another name. The caller must close the reader.
//
// It reads and checks headers only. Errors: *FormatError, *ReadError.
func Open(path string) (*Reader, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &ReadError{err}
	}
	if info.IsDir() {
		if path, err = search(path); err != nil {
			return nil, err
		}
	}
	r := &Reader{Path: path, Metadata: map[string]string{}, byName: map[string]int{}}
	if filepath.Ext(path) == ".json" {
		err = r.addIndexed(path)
	} else {
		err = r.add(path)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// search returns the file of a folder that holds or lists the weights.
func search(folder string) (string, error) {
	for _, name := range []string{WeightsFile, IndexFile} {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", &ReadError{err}
	}
	var found, pickles []string
	for _, e := range entries {
		switch path := filepath.Join(folder, e.Name()); {
		case filepath.Ext(path) == ".safetensors":
			found = append(found, path)
		case isPickleName(path):
			pickles = append(pickles, path)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", &FormatError{File: folder, Offset: -1, Reason: fmt.Sprintf(
			"%d safetensors files and no %s; name one of them", len(found), IndexFile)}
	case len(pickles) > 0:
		return "", pickleError(pickles[0])
	}
	return "", &ReadError{fmt.Errorf("%s: no %s, which a run writes when it ends: %w", folder, WeightsFile,
		fs.ErrNotExist)}
}

// add opens one file and appends its tensors.
func (r *Reader) add(path string) error {
	f, h, err := openFile(path)
	if err != nil {
		return err
	}
	r.files = append(r.files, f)
	for _, t := range h.tensors {
		if other, isThere := r.byName[t.Name]; isThere {
			return &FormatError{File: path, Offset: -1, Tensor: t.Name,
				Reason: "also in " + r.Tensors[other].file.path}
		}
		r.byName[t.Name] = len(r.Tensors)
		r.Tensors = append(r.Tensors, t)
	}
	for key, value := range h.metadata {
		r.Metadata[key] = value
	}
	return nil
}

// Close closes the files.
func (r *Reader) Close() error {
	var err error
	for _, f := range r.files {
		err = errors.Join(err, f.close())
	}
	return err
}

// Find returns the tensor with the given name, and false if there is none.
func (r *Reader) Find(name string) (Tensor, bool) {
	i, ok := r.byName[name]
	if !ok {
		return Tensor{}, false
	}
	return r.Tensors[i], true
}

// SHA256 returns, in hexadecimal, the hash of the file's bytes, as sha256sum prints it. For several
// files it is the hash of the output of `sha256sum` for them in the order of the index's names.
func (r *Reader) SHA256() (string, error) {
	all := sha256.New()
	sum := ""
	for _, f := range r.files {
		h := sha256.New()
		err := f.visit(0, f.size, func(b []byte) error { h.Write(b); return nil })
		if err != nil {
			return "", &ReadError{fmt.Errorf("read %s: %w", f.path, err)}
		}
		sum = hex.EncodeToString(h.Sum(nil))
		fmt.Fprintf(all, "%s  %s\n", sum, filepath.Base(f.path))
	}
	if len(r.files) == 1 {
		return sum, nil
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}

// Floats copies t's values to dst, which has t's number of elements, rounded to float32. It returns
// an error at a value that is not finite, and for types that are only listed.
func (r *Reader) Floats(t Tensor, dst []float32) error {
	if len(dst) != t.Shape.Elems() {
		panic(fmt.Sprintf("checkpoint: floats: len(dst)=%d, want %d", len(dst), t.Shape.Elems()))
	}
	i := 0
	if t.DType == F32 {
		return r.data(t, func(b []byte) error {
			for ; len(b) > 0; b = b[4:] {
				x := math.Float32frombits(binary.LittleEndian.Uint32(b))
				if x-x != 0 {
					return t.notFinite(i, float64(x))
				}
				dst[i] = x
				i++
			}
			return nil
		})
	}
	return r.values(t, func(x float64) error {
		dst[i] = float32(x)
		if math.IsInf(float64(dst[i]), 0) || math.IsNaN(x) {
			return t.notFinite(i, x)
		}
		i++
		return nil
	})
}

// values calls use with each of t's values in order.
func (r *Reader) values(t Tensor, use func(x float64) error) error {
	if t.format.value == nil {
		return &FormatError{File: t.file.path, Offset: t.offset, Tensor: t.Name,
			Reason: fmt.Sprintf("values of type %s cannot be read", t.DType)}
	}
	width := int(t.format.bits / 8)
	return r.data(t, func(b []byte) error {
		for ; len(b) > 0; b = b[width:] {
			if err := use(t.format.value(b)); err != nil {
				return err
			}
		}
		return nil
	})
}

// data calls use with t's bytes in order, in pieces.
func (r *Reader) data(t Tensor, use func([]byte) error) error {
	err := t.file.visit(t.offset, t.Bytes, use)
	var fault *FormatError
	if err == nil || errors.As(err, &fault) {
		return err
	}
	return &ReadError{fmt.Errorf("read tensor %s of %s: %w", quote(t.Name), t.file.path, err)}
}

// notFinite returns the error for element i that is not finite.
func (t Tensor) notFinite(i int, x float64) error {
	return &FormatError{File: t.file.path, Offset: t.offset + int64(i)*t.format.bits/8,
		Tensor: t.Name, Reason: fmt.Sprintf("element %d is %v, not a finite float32", i, x)}
}
