//go:build cuda && linux && amd64

package gpu

import (
	"unsafe"

	"lockstep/internal/cuda"
)

// prefetch is a copy to the GPU beside what computes, on a queue of its own: the samples of the next pass.
type prefetch struct {
	stream       *cuda.Stream
	done, isRead *cuda.Event
	room         cuda.Pointer
	bytes        int
	source       *float32 // what is in the room; nil: nothing
	length       int
}

// Prefetch begins to copy values that the next Upload of the same slice will want. They must not change until
// the Download after that.
func (e *Executor) Prefetch(values []float32) {
	src, p := bytesOf(values), &e.prefetch
	if e.err != nil || len(src) == 0 || !e.staging.isPinned(src) {
		return
	}
	if err := p.grow(e, len(src)); err != nil {
		e.note(err)
		return
	}
	e.note(p.stream.WaitFor(p.isRead))
	e.note(p.stream.ToDevice(p.room, unsafe.Pointer(&src[0]), len(src)))
	e.note(p.stream.Record(p.done))
	p.source, p.length = &values[0], len(values)
}

// grow makes the room at least so large.
func (p *prefetch) grow(e *Executor, bytes int) (err error) {
	if p.stream == nil {
		if p.stream, err = e.device.NewStream(cuda.Low); err != nil {
			return err
		}
		if p.done, err = e.device.NewEvent(cuda.Untimed); err != nil {
			return err
		}
		if p.isRead, err = e.device.NewEvent(cuda.Untimed); err != nil {
			return err
		}
	}
	if bytes <= p.bytes {
		return nil
	}
	e.Wait()
	e.note(p.stream.Wait())
	p.free(e)
	if p.room, err = e.device.Alloc(bytes); err == nil {
		p.bytes = bytes
	}
	return err
}

// take copies values to dst if they were prefetched, and reports whether they were.
func (p *prefetch) take(e *Executor, dst cuda.Pointer, values []float32) bool {
	if p.source == nil || len(values) != p.length || p.source != &values[0] {
		return false
	}
	p.source = nil
	e.note(e.stream.WaitFor(p.done))
	e.note(e.stream.Copy(dst, p.room, 4*len(values)))
	e.note(e.stream.Record(p.isRead))
	return true
}

// free frees the room, when neither queue uses it.
func (p *prefetch) free(e *Executor) {
	if p.bytes > 0 {
		e.device.Free(p.room)
		p.room, p.bytes, p.source = 0, 0, nil
	}
}

// close frees all.
func (p *prefetch) close(e *Executor) {
	p.free(e)
	if p.done != nil {
		p.done.Close()
	}
	if p.isRead != nil {
		p.isRead.Close()
	}
	if p.stream != nil {
		p.stream.Close()
	}
}
