package data

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"lockstep/internal/regular"
)

// decoders are those of a Source whose images are decoded when they are read: one for each goroutine that
// reads.
type decoders struct {
	side int
	idle sync.Pool // of *decoder
}

// take returns a decoder that nobody uses, until give.
func (p *decoders) take() *decoder {
	if d, isIdle := p.idle.Get().(*decoder); isIdle {
		return d
	}
	return &decoder{side: p.side}
}

func (p *decoders) give(d *decoder) { p.idle.Put(d) }

// changed is the error for a file that is not what it was when it was listed.
func changed(path string) error {
	return &FormatError{File: path, Offset: -1, Next: "start again with files that stay as they are",
		Reason: "changed since the run began"}
}

// fileImages is the Source of a folder's images.
type fileImages struct {
	files    []listedFile
	decoders decoders
}

// listedFile is an image's file as it was listed.
type listedFile struct {
	path           string
	size, modified int64
}

func newFileImages(files []imageFile, side int) *fileImages {
	s := &fileImages{decoders: decoders{side: side}}
	for _, f := range files {
		s.files = append(s.files, listedFile{f.path, f.info.Size(), f.info.ModTime().UnixNano()})
	}
	return s
}

func (s *fileImages) Len() int { return len(s.files) }

func (s *fileImages) IsSlow() bool { return true }

func (s *fileImages) ReadSample(dst []byte, sample int) error {
	return s.readPart(dst, sample, portion{})
}

func (s *fileImages) readPart(dst []byte, sample int, p portion) error {
	f := s.files[sample]
	info, err := os.Stat(f.path)
	if err != nil {
		return &ReadError{File: f.path, Err: err}
	}
	if info.Size() != f.size || info.ModTime().UnixNano() != f.modified {
		return changed(f.path)
	}
	d := s.decoders.take()
	defer s.decoders.give(d)
	return orSkip(d.decode(context.Background(), f.path, dst, p))
}

// orSkip adds to the error of a damaged image that it can be left out.
func orSkip(err error) error {
	if damage := (*FormatError)(nil); errors.As(err, &damage) && damage.Next == "" {
		damage.Next = "put an intact copy in its place, or leave out up to N such images by --skip-bad N"
	}
	return err
}

// Digest hashes the sizes of all files, and the bytes of some.
func (s *fileImages) Digest() string {
	h := sha256.New()
	every := max(1, len(s.files)/digestSamples)
	for i, f := range s.files {
		fmt.Fprintln(h, f.size)
		if i%every == 0 {
			text, err := regular.ReadFile(f.path, f.size+1)
			fmt.Fprintln(h, err != nil)
			h.Write(text)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// shardImages is the Source of the images in tar files.
type shardImages struct {
	shards   []*openShard
	entries  []shardEntry
	decoders decoders
}

// openShard is a tar file, with its size and date when it was listed.
type openShard struct {
	file           *os.File
	size, modified int64
}

// shardEntry is where an image lies.
type shardEntry struct {
	offset      int64
	shard, size int32
}

func (s *shardImages) Len() int { return len(s.entries) }

func (s *shardImages) IsSlow() bool { return true }

// read reads an entry's bytes into buffer, which grows as needed.
func (s *shardImages) read(sample int, buffer []byte) (text []byte, place string, err error) {
	e := s.entries[sample]
	shard := s.shards[e.shard]
	place = fmt.Sprintf("%s: image at byte %d", shard.file.Name(), e.offset)
	size, modified, err := regular.Stamp(shard.file)
	if err != nil {
		return nil, place, &ReadError{File: shard.file.Name(), Err: err}
	}
	if size != shard.size || modified != shard.modified {
		return nil, place, changed(shard.file.Name())
	}
	text = atLeast(buffer, int(e.size))
	if _, err := shard.file.ReadAt(text[:e.size], e.offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, place, &ReadError{File: shard.file.Name(), Err: err}
	}
	return text, place, nil
}

func (s *shardImages) ReadSample(dst []byte, sample int) error {
	return s.readPart(dst, sample, portion{})
}

func (s *shardImages) readPart(dst []byte, sample int, p portion) error {
	d := s.decoders.take()
	defer s.decoders.give(d)
	text, place, err := s.read(sample, d.text)
	if err != nil {
		return err
	}
	d.text = text
	return orSkip(d.read(bytes.NewReader(text[:s.entries[sample].size]), place, dst, p))
}

// Digest hashes the sizes of all images, and the bytes of some.
func (s *shardImages) Digest() string {
	h := sha256.New()
	every := max(1, len(s.entries)/digestSamples)
	var buffer []byte
	for i, e := range s.entries {
		fmt.Fprintln(h, e.size)
		if i%every != 0 {
			continue
		}
		text, _, err := s.read(i, buffer)
		if err == nil {
			h.Write(text[:e.size])
			buffer = text
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
