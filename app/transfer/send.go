package transfer

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"github.com/klauspost/compress/zstd"

	"lockstep/internal/regular"
)

const (
	numAttempts = 4                // of a delivery whose connection breaks
	silence     = 30 * time.Second // between two lines of the receiver
)

// File is a file to be sent.
type File struct {
	Path string // on this machine
	Name string // below the folder of the other host, with slashes
}

// Cargo is a list of files with their sizes and hashes. It is immutable.
type Cargo struct {
	files   []File
	entries []entry
	silence time.Duration
}

// Load reads the files and notes their hashes. Cost: one pass over them, at the speed of SHA-256.
func Load(ctx context.Context, files []File) (*Cargo, error) {
	c := &Cargo{files: files, silence: silence}
	for _, file := range files {
		e := entry{Name: file.Name}
		sum := sha256.New()
		f, err := regular.Open(file.Path)
		if err != nil {
			return nil, err
		}
		e.Bytes, err = io.Copy(sum, contextReader{ctx, f})
		f.Close() // it was only read
		if err != nil {
			return nil, err
		}
		e.SHA256 = hex.EncodeToString(sum.Sum(nil))
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("send files: %w", err)
		}
		c.entries = append(c.entries, e)
	}
	return c, nil
}

// contextReader fails when its context ends.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// Bytes returns the size of all files.
func (c *Cargo) Bytes() int64 {
	n := int64(0)
	for _, e := range c.entries {
		n += e.Bytes
	}
	return n
}

// Progress is the state of a delivery.
type Progress struct {
	Host        string
	File        string // that is being sent
	Done, Total int64  // bytes that the host lacked, those on its disk and all
	Remaining   time.Duration
}

// Destination is a host that files are delivered to.
type Destination struct {
	Host string
	// Dial starts Receive on the host and returns the stream to it. Closing the stream ends what it started.
	Dial func(ctx context.Context) (io.ReadWriteCloser, error)
	// Progress is called a few times a second while bytes are sent; it may be nil.
	Progress func(Progress)
}

// Delivery says what became of a cargo.
type Delivery struct {
	Folder string // on the host, where the files are
	Sent   int64  // bytes of the files that the host lacked
}

// Deliver sends what the host lacks. If the connection breaks it is made anew, up to three times, and goes on
// with the files that the host does not have yet. Errors are those of the package, of Dial and of ctx.
func (c *Cargo) Deliver(ctx context.Context, to Destination) (Delivery, error) {
	if to.Progress == nil {
		to.Progress = func(Progress) {}
	}
	lacked := int64(0)
	for attempt := 1; ; attempt++ {
		d, err := c.attempt(ctx, to)
		lacked = max(lacked, d.total)
		cut := (*CutError)(nil)
		switch {
		case err == nil:
			return Delivery{d.folder, lacked}, nil
		case ctx.Err() != nil:
			return Delivery{}, context.Cause(ctx)
		case !errors.As(err, &cut) || d.folder == "" || attempt == numAttempts:
			return Delivery{}, err
		}
	}
}

// attempt delivers over one connection and returns what it knows at its end.
func (c *Cargo) attempt(ctx context.Context, to Destination) (*delivery, error) {
	d := &delivery{cargo: c, to: to, began: time.Now()}
	conn, err := to.Dial(ctx)
	if err != nil {
		return d, err
	}
	d.conn, d.lines = conn, newLines(conn)
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	watchdog := time.AfterFunc(c.silence, func() { conn.Close() })
	defer watchdog.Stop()
	d.heard = func() { watchdog.Reset(c.silence) }
	return d, d.run()
}

// delivery is the state of an attempt.
type delivery struct {
	cargo       *Cargo
	to          Destination
	conn        io.ReadWriteCloser
	lines       lines
	heard       func() // puts off the watchdog
	began       time.Time
	folder      string
	wanted      []int
	done, total int64
}

func (d *delivery) run() error {
	if err := d.offer(); err != nil {
		return d.cut(err)
	}
	if err := d.readWanted(); err != nil {
		return err
	}
	sent := make(chan error, 1)
	if len(d.wanted) > 0 {
		go func() { sent <- d.send() }()
	} else {
		sent <- nil
	}
	err := d.readResult()
	d.conn.Close() // lets send return
	if ours := <-sent; ours != nil {
		return ours
	}
	return err
}

// offer writes the list of files.
func (d *delivery) offer() error {
	b := bufio.NewWriter(d.conn)
	if err := writeLine(b, head{protocol, len(d.cargo.entries)}); err != nil {
		return err
	}
	for _, e := range d.cargo.entries {
		if err := writeLine(b, e); err != nil {
			return err
		}
	}
	return b.Flush()
}

// next reads a line of the receiver. Its failure is returned as an error of the package.
func (d *delivery) next() (reply, error) {
	var r reply
	if err := d.lines.next(&r); err != nil {
		return r, d.cut(err)
	}
	d.heard()
	switch {
	case r.Cut != "":
		return r, d.cut(errors.New(clip(r.Cut)))
	case r.Failed != "":
		return r, &HostError{d.to.Host, clip(r.Failed)}
	}
	return r, nil
}

func (d *delivery) cut(err error) error {
	return &CutError{Host: d.to.Host, Done: d.done, Total: d.total, Err: err}
}

// readWanted reads which files the host lacks.
func (d *delivery) readWanted() error {
	last := -1
	for {
		r, err := d.next()
		switch {
		case err != nil:
			return err
		case r.Want != nil && (*r.Want <= last || *r.Want >= len(d.cargo.entries)):
			return &HostError{d.to.Host, fmt.Sprintf("it asks for file %d of %d", *r.Want,
				len(d.cargo.entries))}
		case r.Want != nil:
			last = *r.Want
			d.wanted = append(d.wanted, last)
			d.total += d.cargo.entries[last].Bytes
		case r.Folder != nil:
			d.folder = clip(*r.Folder)
			return nil
		}
	}
}

// send compresses all wanted files. The error is about a file of this machine: what else keeps from sending,
// the receiver says, or its silence.
func (d *delivery) send() error {
	packed, err := zstd.NewWriter(d.conn, zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window/2))
	if err != nil {
		return err
	}
	for _, number := range d.wanted {
		f, err := regular.Open(d.cargo.files[number].Path)
		if err == nil {
			own := &ownReader{Reader: f}
			n, failed := io.CopyN(packed, own, d.cargo.entries[number].Bytes)
			f.Close() // it was only read
			if failed != nil && own.err == nil {
				return nil // of the connection
			}
			if n < d.cargo.entries[number].Bytes {
				err = fmt.Errorf("%s has changed while it was sent: %w", f.Name(), own.err)
			}
		}
		if err != nil {
			d.conn.Close() // the receiver waits for bytes that will not come
			return err
		}
	}
	packed.Close() // an error is one of the connection
	return nil
}

// ownReader keeps the error of reading a file of this machine.
type ownReader struct {
	io.Reader
	err error
}

// Read reads.
func (r *ownReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.err = err
	return n, err
}

// readResult reads progress until the receiver says how it ended.
func (d *delivery) readResult() error {
	for {
		r, err := d.next()
		switch {
		case err != nil:
			return err
		case r.OK:
			d.done = d.total
			d.show()
			return nil
		case r.Done != nil && *r.Done >= d.done && *r.Done <= d.total:
			d.done = *r.Done
			d.show()
		}
	}
}

// show tells the progress.
func (d *delivery) show() {
	if d.total == 0 {
		return
	}
	p := Progress{Host: d.to.Host, Done: d.done, Total: d.total}
	before := int64(0)
	for _, w := range d.wanted {
		p.File = path.Base(d.cargo.entries[w].Name)
		if before += d.cargo.entries[w].Bytes; before > d.done {
			break
		}
	}
	if taken := time.Since(d.began); d.done > 0 {
		p.Remaining = time.Duration(float64(taken) * float64(d.total-d.done) / float64(d.done))
	}
	d.to.Progress(p)
}
