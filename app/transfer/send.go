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

// Deliver sends what the host lacks. If the connection breaks it is made anew and goes on where it broke,
// up to three times while that moves the bytes on. Errors are those of the package, of Dial and of ctx.
func (c *Cargo) Deliver(ctx context.Context, to Destination) (Delivery, error) {
	if to.Progress == nil {
		to.Progress = func(Progress) {}
	}
	lacked, before := int64(0), int64(0)
	for attempt := 1; ; attempt++ {
		d, err := c.attempt(ctx, to)
		if attempt == 1 {
			lacked = d.total
		}
		cut, damaged := (*CutError)(nil), (*damagedError)(nil)
		switch {
		case err == nil:
			return Delivery{d.folder, lacked}, nil
		case ctx.Err() != nil:
			return Delivery{}, context.Cause(ctx)
		case errors.As(err, &cut):
			cut.Done, cut.Total = max(0, lacked-d.total)+d.done, max(lacked, d.total)
			if d.folder == "" || attempt > 1 && d.total >= before {
				return Delivery{}, err
			}
		case !errors.As(err, &damaged):
			return Delivery{}, err
		}
		if attempt == numAttempts {
			return Delivery{}, err
		}
		before = d.total
	}
}

// damagedError reports a file that arrived with another hash, as when the beginning on the host was of
// another version.
type damagedError struct{ HostError }

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
	wanted      []want
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
	if ours := local(<-sent); ours != nil {
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
	if r.Failure != nil {
		return r, d.failed(*r.Failure)
	}
	return r, nil
}

func (d *delivery) cut(err error) error {
	return &CutError{Host: d.to.Host, Done: d.done, Total: d.total, Err: err}
}

// failed turns what the receiver says into an error.
func (d *delivery) failed(f failure) error {
	f.Text = clip(f.Text)
	switch {
	case f.Kind == kindVersion && f.File >= 0 && f.File < len(d.cargo.entries):
		return &VersionError{Host: d.to.Host, Path: f.Text, Here: d.cargo.entries[f.File].SHA256,
			There: clip(f.Hash)}
	case f.Kind == kindFull:
		return &FullError{Host: d.to.Host, Folder: f.Text, Need: f.Need, Free: f.Free}
	case f.Kind == kindCut:
		return d.cut(errors.New(f.Text))
	case f.Kind == kindDamaged:
		return &damagedError{HostError{d.to.Host, f.Text + " arrived with another hash several times"}}
	}
	return &HostError{d.to.Host, f.Text}
}

// readWanted reads which files the host lacks.
func (d *delivery) readWanted() error {
	for {
		r, err := d.next()
		switch {
		case err != nil:
			return err
		case r.Want != nil:
			w := *r.Want
			last := -1
			if len(d.wanted) > 0 {
				last = d.wanted[len(d.wanted)-1].File
			}
			if w.File <= last || w.File >= len(d.cargo.entries) || w.From < 0 ||
				w.From > d.cargo.entries[w.File].Bytes {
				return &HostError{d.to.Host, fmt.Sprintf("it asks for file %d from byte %d", w.File, w.From)}
			}
			d.wanted = append(d.wanted, w)
			d.total += d.cargo.entries[w.File].Bytes - w.From
		case r.Start != nil:
			d.folder = clip(r.Start.Folder)
			return nil
		}
	}
}

// send compresses the missing bytes of all wanted files.
func (d *delivery) send() error {
	packed, err := zstd.NewWriter(d.conn, zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window/2))
	if err != nil {
		return err
	}
	for _, w := range d.wanted {
		if err := d.sendFile(packed, w); err != nil {
			packed.Reset(nil)
			return err
		}
	}
	return packed.Close()
}

// localError is an error of reading a file of this machine.
type localError struct{ error }

// local returns err if it is about a file of this machine: what else keeps from sending, the receiver says
// or its silence.
func local(err error) error {
	if ours := (*localError)(nil); errors.As(err, &ours) {
		return ours.error
	}
	return nil
}

func (d *delivery) sendFile(w io.Writer, missing want) error {
	f, err := regular.Open(d.cargo.files[missing.File].Path)
	if err != nil {
		return d.unreadable(err)
	}
	defer f.Close() // it was only read
	if _, err := f.Seek(missing.From, io.SeekStart); err != nil {
		return d.unreadable(err)
	}
	buffer := make([]byte, 256<<10)
	for left := d.cargo.entries[missing.File].Bytes - missing.From; left > 0; {
		n, err := f.Read(buffer[:min(int64(len(buffer)), left)])
		if _, failed := w.Write(buffer[:n]); failed != nil {
			return failed
		}
		if left -= int64(n); err != nil && left > 0 {
			return d.unreadable(fmt.Errorf("%s has changed while it was sent: %w", f.Name(), err))
		}
	}
	return nil
}

// unreadable ends the connection, because the receiver waits for bytes that will not come.
func (d *delivery) unreadable(err error) error {
	d.conn.Close()
	return &localError{err}
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
		p.File = path.Base(d.cargo.entries[w.File].Name)
		if before += d.cargo.entries[w.File].Bytes - w.From; before > d.done {
			break
		}
	}
	if taken := time.Since(d.began); d.done > 0 {
		p.Remaining = time.Duration(float64(taken) * float64(d.total-d.done) / float64(d.done))
	}
	d.to.Progress(p)
}
