package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"lockstep/internal/regular"
)

// file is an open safetensors file.
type file struct {
	path string
	size int64
	source
}

// source provides the bytes of a file.
type source interface {
	// visit calls use with the bytes [at, at+n) in order, in pieces of at most chunkBytes. use must
	// not keep them.
	visit(at, n int64, use func([]byte) error) error
	close() error
}

// chunkBytes is a multiple of every element's size.
const chunkBytes = 1 << 20

// plain is a file that is read in pieces.
type plain struct{ f *os.File }

func (p plain) visit(at, n int64, use func([]byte) error) error {
	buffer := make([]byte, min(n, chunkBytes))
	for end := at + n; at < end; at += chunkBytes {
		piece := buffer[:min(end-at, chunkBytes)]
		if _, err := p.f.ReadAt(piece, at); err != nil {
			return err
		}
		if err := use(piece); err != nil {
			return err
		}
	}
	return nil
}

func (p plain) close() error { return p.f.Close() }

// openFile reads the header of the file at path, but not its data.
func openFile(path string) (*file, header, error) {
	if isPickleName(path) {
		return nil, header{}, pickleError(path)
	}
	f, err := regular.Open(path)
	if err != nil {
		return nil, header{}, &ReadError{err}
	}
	size, h, err := readHeader(f, path)
	if err != nil {
		f.Close() // it was only read
		return nil, header{}, err
	}
	opened := &file{path, size, openSource(f, size)}
	for i := range h.tensors {
		h.tensors[i].file = opened
	}
	return opened, h, nil
}

// readHeader reads the beginning of f and returns f's size.
func readHeader(f *os.File, path string) (size int64, h header, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, h, &ReadError{err}
	}
	refuse := func(offset int64, format string, args ...any) (int64, header, error) {
		return 0, h, &FormatError{File: path, Offset: offset, Reason: fmt.Sprintf(format, args...)}
	}
	size = info.Size()
	var start [lengthBytes + 1]byte
	n, err := f.ReadAt(start[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, h, &ReadError{err}
	}
	length := binary.LittleEndian.Uint64(start[:])
	if n < len(start) || length > maxHeader || start[lengthBytes] != '{' {
		switch {
		case isPickle(start[:n]):
			return 0, h, pickleError(path)
		case n < len(start):
			return refuse(int64(n), "truncated: %d bytes, too few for a header", n)
		case length > maxHeader:
			return refuse(0, "header of %d bytes, want at most %d; not a safetensors file?",
				length, maxHeader)
		}
		return refuse(lengthBytes, "header does not start with {; not a safetensors file?")
	}
	data := lengthBytes + int64(length)
	if data > size {
		return refuse(size, "truncated: the header should end at byte %d", data)
	}
	text := make([]byte, length)
	if _, err := f.ReadAt(text, lengthBytes); err != nil {
		return 0, h, &ReadError{err}
	}
	if h, err = parseHeader(text, size-data); err != nil {
		return 0, h, placed(err, path, lengthBytes)
	}
	for i := range h.tensors {
		h.tensors[i].offset += data
	}
	return size, h, nil
}

// isPickleName reports whether path has an extension of PyTorch's own format.
func isPickleName(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".pt", ".pth", ".bin", ".ckpt", ".pkl":
		return true
	}
	return false
}

// isPickle reports whether a file starts like a ZIP archive, PyTorch's container since 1.6, or like
// a pickle of protocol 2 to 5.
func isPickle(start []byte) bool {
	isZIP := strings.HasPrefix(string(start), "PK\x03\x04")
	return isZIP || len(start) > 1 && start[0] == 0x80 && 2 <= start[1] && start[1] <= 5
}

// simplePath matches paths that need no quoting in a shell or in Python.
var simplePath = regexp.MustCompile(`^[\w./+-]+$`)

// pickleError returns the error for a file of PyTorch's own format.
func pickleError(path string) error {
	name := path
	if !simplePath.MatchString(name) {
		name = "FILE"
	}
	return &FormatError{File: path, Offset: -1, Reason: "a pickle, which can run code when it is " +
		"read; convert it once, if you trust it: python3 -c \"import torch; from safetensors.torch " +
		"import save_file; save_file({k: v.clone() for k, v in torch.load('" + name +
		"', map_location='cpu', weights_only=True).items()}, 'model.safetensors', " +
		"{'format': 'pt'})\""}
}
