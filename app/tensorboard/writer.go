package tensorboard

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"time"
)

// Writer appends events to one file. It is used by one goroutine at a time.
type Writer struct {
	file   *os.File
	buffer *bufio.Writer
	table  *crc32.Table
	// The event under construction, and parts of it.
	event, summary, value []byte
	err                   error // the first one
}

// Create makes an event file in the folder, which it creates if need be. TensorBoard shows each folder
// as a run, and reads its files in the order of their names, which start with the time. Of the files before
// this one it forgets the events of first and of later steps, which are made again
// (event_accumulator.py, CheckForRestartAndMaybePurge).
func Create(folder string, now time.Time, first int64) (*Writer, error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, fmt.Errorf("tensorboard: %w", err)
	}
	name := fmt.Sprintf("events.out.tfevents.%010d.%09d.lockstep.%d", now.Unix(), now.Nanosecond(),
		os.Getpid())
	f, err := os.Create(filepath.Join(folder, name))
	if err != nil {
		return nil, fmt.Errorf("tensorboard: %w", err)
	}
	w := &Writer{file: f, buffer: bufio.NewWriter(f), table: crc32.MakeTable(crc32.Castagnoli)}
	w.begin(now, 0)
	w.event = appendBytes(w.event, 3, "brain.Event:2")
	w.write()
	w.begin(now, first)
	w.event = appendBytes(w.event, 7, []byte{1<<3 | wireVarint, sessionStart})
	w.write()
	return w, w.Flush()
}

// Scalar is the value of one quantity, named like "loss/train": TensorBoard groups by what is ahead
// of the slash.
type Scalar struct {
	Tag   string
	Value float64 // kept as float32
}

// Add appends the scalars of a step. It keeps the first error for Flush and Close, and allocates
// nothing once it has written as many.
func (w *Writer) Add(now time.Time, step int64, scalars ...Scalar) {
	w.begin(now, step)
	w.summary = w.summary[:0]
	for _, s := range scalars {
		w.value = appendBytes(w.value[:0], 1, s.Tag)
		w.value = binary.AppendUvarint(w.value, 2<<3|wireFixed32)
		w.value = binary.LittleEndian.AppendUint32(w.value, math.Float32bits(float32(s.Value)))
		w.summary = appendBytes(w.summary, 1, w.value)
	}
	w.event = appendBytes(w.event, 5, w.summary)
	w.write()
}

// Flush writes the buffered events to the file, so that readers see them.
func (w *Writer) Flush() error {
	if err := w.buffer.Flush(); err != nil && w.err == nil {
		w.err = fmt.Errorf("tensorboard: %w", err)
	}
	return w.err
}

// Close flushes and closes the file.
func (w *Writer) Close() error {
	err := w.Flush()
	if closeErr := w.file.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("tensorboard: %w", closeErr)
	}
	return err
}

// Wire types of protocol buffers.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// sessionStart is the status START of a SessionLog.
const sessionStart = 1

// begin starts an event with its wall time in seconds and its step.
func (w *Writer) begin(now time.Time, step int64) {
	seconds := float64(now.UnixNano()) / 1e9
	w.event = binary.AppendUvarint(w.event[:0], 1<<3|wireFixed64)
	w.event = binary.LittleEndian.AppendUint64(w.event, math.Float64bits(seconds))
	w.event = binary.AppendUvarint(w.event, 2<<3|wireVarint)
	w.event = binary.AppendUvarint(w.event, uint64(step))
}

// appendBytes appends a field of bytes, text or an embedded message.
func appendBytes[T string | []byte](b []byte, field uint64, content T) []byte {
	b = binary.AppendUvarint(b, field<<3|wireBytes)
	b = binary.AppendUvarint(b, uint64(len(content)))
	return append(b, content...)
}

// write appends the event as a record.
func (w *Writer) write() {
	var head [12]byte
	binary.LittleEndian.PutUint64(head[:], uint64(len(w.event)))
	binary.LittleEndian.PutUint32(head[8:], w.checksum(head[:8]))
	var tail [4]byte
	binary.LittleEndian.PutUint32(tail[:], w.checksum(w.event))
	for _, b := range [][]byte{head[:], w.event, tail[:]} {
		if _, err := w.buffer.Write(b); err != nil && w.err == nil {
			w.err = fmt.Errorf("tensorboard: %w", err)
		}
	}
}

// checksum is CRC-32C, masked as records have it: rotated and shifted, so that checksums of data that
// holds checksums stay useful.
func (w *Writer) checksum(b []byte) uint32 {
	c := crc32.Checksum(b, w.table)
	return (c>>15 | c<<17) + 0xa282ead8
}
