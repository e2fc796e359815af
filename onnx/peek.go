package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"lockstep/internal/regular"
)

// FileReadsTexts is Model.ReadsTexts of the file at path, of which it reads no weights. Errors are those of
// Open.
func FileReadsTexts(path string) (bool, error) {
	f, err := regular.Open(path)
	if err != nil {
		return false, fmt.Errorf("onnx: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("onnx: %w", err)
	}
	p := peeker{f: f, model: &Model{}}
	err = p.fields(0, info.Size(), true)
	if bad := (*FormatError)(nil); errors.As(err, &bad) {
		bad.File = path
	}
	return err == nil && len(p.model.Inputs) > 0 && p.model.ReadsTexts(), err
}

// peeker reads the inputs of a file and steps over everything else.
type peeker struct {
	f     io.ReaderAt
	model *Model
}

// mostPeeked bounds the description of an input.
const mostPeeked = 1 << 16

// fields reads the fields from one offset to another: of the file, or of its graph.
func (p *peeker) fields(at, end int64, isFile bool) error {
	for at < end {
		var head [2 * binary.MaxVarintLen64]byte
		n, err := p.f.ReadAt(head[:min(int64(len(head)), end-at)], at)
		if err != nil && err != io.EOF {
			return fmt.Errorf("onnx: %w", err)
		}
		key, k := binary.Uvarint(head[:n])
		if k <= 0 {
			return damaged("no field of a message: the file is cut, or no ONNX")
		}
		at += int64(k)
		size, k := binary.Uvarint(head[k:n])
		switch key & 7 {
		case wireVarint:
			at += int64(max(k, 1))
			continue
		case wireFixed64:
			at += 8
			continue
		case wireFixed32:
			at += 4
			continue
		case wireBytes:
			at += int64(k)
		default:
			return damaged("field %d of unknown kind %d", key>>3, key&7)
		}
		if k <= 0 || size > uint64(max(end-at, 0)) {
			return damaged("field %d has %d bytes, of which %d are there: the file is cut", key>>3, size,
				end-at)
		}
		if err := p.visit(int(key>>3), at, int64(size), isFile); err != nil {
			return err
		}
		at += int64(size)
	}
	return nil
}

// visit reads the graph of the file, and inputs of the graph.
func (p *peeker) visit(tag int, at, size int64, isFile bool) error {
	switch {
	case isFile && tag == 7:
		return p.fields(at, at+size, false)
	case isFile || tag != 11 || size > mostPeeked:
		return nil
	}
	data := make([]byte, size)
	if _, err := p.f.ReadAt(data, at); err != nil && err != io.EOF {
		return fmt.Errorf("onnx: %w", err)
	}
	v, err := (&decoder{}).value(data)
	p.model.Inputs = append(p.model.Inputs, v)
	return err
}
