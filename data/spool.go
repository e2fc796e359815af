package data

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path/filepath"
)

// spool is the Source of samples of one size that were written to a temporary file, which has no name where
// the system allows that and ends with the process.
type spool struct {
	file   *os.File
	out    *bufio.Writer // nil behind end
	sum    hash.Hash
	bytes  int // of a sample
	n      int // samples
	digest string
}

// newSpool creates one for samples of so many bytes.
func (o Options) newSpool(bytes int) (*spool, error) {
	file, err := o.temporary("*.samples")
	if err != nil {
		return nil, err
	}
	return &spool{file: file, out: bufio.NewWriterSize(file, 1<<20), sum: sha256.New(), bytes: bytes}, nil
}

// temporary creates a file that ends with the process, in the folder of the cache or in that of the system.
func (o Options) temporary(pattern string) (*os.File, error) {
	folder := os.TempDir()
	if o.Cache != "" {
		if own := filepath.Join(o.Cache, "samples"); os.MkdirAll(own, 0o777) == nil {
			folder = own
		}
	}
	file, err := os.CreateTemp(folder, pattern)
	if err != nil {
		return nil, spoolFault(folder, err)
	}
	os.Remove(file.Name()) // some systems keep the name of an open file: then the file stays
	return file, nil
}

// spoolFault says that samples cannot be written.
func spoolFault(folder string, err error) error {
	return &FormatError{File: folder, Offset: -1, Reason: "samples that take more memory than they may " +
		"cannot be kept there", Err: err, Next: "make room, or raise --resident"}
}

// write adds a sample.
func (s *spool) write(sample []byte) error {
	s.sum.Write(sample)
	s.n++
	if _, err := s.out.Write(sample); err != nil {
		return spoolFault(filepath.Dir(s.file.Name()), err)
	}
	return nil
}

// end makes the samples readable; none can be added.
func (s *spool) end() error {
	err := s.out.Flush()
	s.digest, s.out, s.sum = hex.EncodeToString(s.sum.Sum(nil)), nil, nil
	if err != nil {
		return spoolFault(filepath.Dir(s.file.Name()), err)
	}
	return nil
}

func (s *spool) Len() int { return s.n }

func (s *spool) IsSlow() bool { return false }

// Digest returns the hash of all samples.
func (s *spool) Digest() string { return s.digest }

// ReadSample reads a sample from the file.
func (s *spool) ReadSample(dst []byte, sample int) error {
	if _, err := s.file.ReadAt(dst[:s.bytes], int64(sample)*int64(s.bytes)); err != nil {
		return &ReadError{File: fmt.Sprintf("%s: sample %d", s.file.Name(), sample), Err: err}
	}
	return nil
}

// tokenFile holds tokens in a temporary file, of four bytes each, the lowest first.
type tokenFile struct {
	file *os.File
	n    int // tokens
}

// tokenStore collects tokens: in memory up to so many, then in a file.
type tokenStore struct {
	options Options
	tokens  []int32 // in memory; with a file, those that it lacks
	file    *tokenFile
	buffer  []byte
}

// tokensWritten is how many tokens are written to a file at once.
const tokensWritten = 1 << 16

// add appends tokens. Without a bound in the options they stay in memory.
func (s *tokenStore) add(tokens []int32) error {
	s.tokens = append(s.tokens, tokens...)
	bound := s.options.InMemory / 8 // of four bytes each: half of the memory, for there are other parts
	switch {
	case s.file != nil && len(s.tokens) < tokensWritten:
		return nil
	case s.file == nil && (bound == 0 || int64(len(s.tokens)) <= bound):
		return nil
	case s.file == nil:
		file, err := s.options.temporary("*.tokens")
		if err != nil {
			return err
		}
		s.file = &tokenFile{file: file}
	}
	return s.flush()
}

// len returns how many tokens there are.
func (s *tokenStore) len() int {
	if s.file == nil {
		return len(s.tokens)
	}
	return s.file.n + len(s.tokens)
}

// flush writes the tokens in memory to the file.
func (s *tokenStore) flush() error {
	for len(s.tokens) > 0 {
		part := s.tokens[:min(len(s.tokens), tokensWritten)]
		s.buffer = s.buffer[:0]
		for _, t := range part {
			s.buffer = binary.LittleEndian.AppendUint32(s.buffer, uint32(t))
		}
		if _, err := s.file.file.Write(s.buffer); err != nil {
			return spoolFault(filepath.Dir(s.file.file.Name()), err)
		}
		s.file.n += len(part)
		s.tokens = s.tokens[len(part):]
	}
	s.tokens = nil
	return nil
}

// end returns the tokens, or the file that has them.
func (s *tokenStore) end() ([]int32, *tokenFile, error) {
	if s.file == nil {
		return s.tokens, nil, nil
	}
	return nil, s.file, s.flush()
}

// read appends n tokens from the first on to dst. It reads them through buffer, which grows as needed.
func (f *tokenFile) read(dst []int32, first, n int, buffer []byte) ([]int32, []byte, error) {
	buffer = atLeast(buffer, 4*n)
	if _, err := f.file.ReadAt(buffer[:4*n], 4*int64(first)); err != nil {
		return dst, buffer, &ReadError{File: fmt.Sprintf("%s: token %d", f.file.Name(), first), Err: err}
	}
	for i := range n {
		dst = append(dst, int32(binary.LittleEndian.Uint32(buffer[4*i:])))
	}
	return dst, buffer, nil
}
