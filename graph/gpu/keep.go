//go:build cuda && linux && amd64

package gpu

import (
	"unsafe"

	"lockstep/graph"
	"lockstep/internal/cuda"
)

// pointer returns where a span lies.
func pointer(s graph.Span) cuda.Pointer {
	return s.Handle.(*block).base + cuda.Pointer(4*s.Offset)
}

// Zero sets a vector of float32 values to 0.
func (e *Executor) Zero(v graph.Span) {
	if e.err == nil && v.Len > 0 {
		e.note(e.stream.Fill(pointer(v), 0, v.Len))
	}
}

// DownloadAll copies several values to the host, and waits once.
func (e *Executor) DownloadAll(dst, src []*graph.Buffer) {
	if e.err != nil {
		return
	}
	bytes := 0
	for _, b := range dst {
		bytes += aligned(4 * len(b.F))
	}
	room, err := e.staging.take(bytes)
	if err != nil || bytes == 0 {
		e.note(err)
		return
	}
	from := 0
	for i, b := range dst {
		if n := 4 * len(b.F); n > 0 {
			e.note(e.stream.ToHost(unsafe.Pointer(&room[from]), at(src[i]), n))
			from += aligned(n)
		}
	}
	e.note(e.stream.Wait())
	from = 0
	for _, b := range dst {
		copy(bytesOf(b.F), room[from:])
		from += aligned(4 * len(b.F))
	}
	e.staging.reset()
}

// aligned rounds a number of bytes up to a cache line.
func aligned(bytes int) int { return (bytes + 63) / 64 * 64 }

// recording is a recorded pass.
type recording struct {
	executor *Executor
	work     *cuda.Recording
}

// Record returns what f queues, to be replayed; nil if the driver cannot record it. The caller then calls f
// itself, which notes an error that has nothing to do with the recording.
func (e *Executor) Record(f func()) graph.Recording {
	if e.err != nil {
		return nil
	}
	work, err := e.stream.Capture(func() error {
		f()
		return e.err
	})
	if err != nil {
		e.err = nil // what f noted, if anything: none of it was queued
		e.aside.release()
		e.Wait()
		return nil
	}
	return &recording{e, work}
}

// Replay queues the pass.
func (r *recording) Replay() {
	if r.executor.err == nil {
		r.executor.note(r.executor.stream.Replay(r.work))
	}
}

// Close frees the recording when the pass is done.
func (r *recording) Close() {
	r.executor.Wait()
	r.work.Close()
}
