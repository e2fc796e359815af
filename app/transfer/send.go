package transfer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"lockstep/internal/regular"
	"lockstep/internal/spelling"
)

// silence is the most time between two lines of the receiver, and between two parts of what the sender sends.
const silence = 30 * time.Second

// Cargo is a list of files with their sizes and hashes. It is immutable.
type Cargo struct {
	paths   []string // on this machine, of the entries
	entries []entry
	silence time.Duration
}

// Load reads files and notes their hashes. The files are paths on this machine, by the names that they get
// below the folder of the other host, with slashes. Cost: one pass over them, at the speed of SHA-256.
func Load(ctx context.Context, files map[string]string) (*Cargo, error) {
	c := &Cargo{silence: silence}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hash, err := regular.Hash(files[name])
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(files[name])
		if err != nil {
			return nil, err
		}
		e := entry{Name: name, Bytes: info.Size(), SHA256: hash}
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("send files: %w", err)
		}
		c.paths, c.entries = append(c.paths, files[name]), append(c.entries, e)
	}
	return c, nil
}

// Delivery says what became of a cargo.
type Delivery struct {
	Done, Total int64 // bytes that the host lacked: those on its disk and all
}

// Deliver sends what the host lacks over conn, on whose other side is [Receive], and closes it, which must
// let its reads and writes return. Show, if not nil, is told of the delivery a few times a second. Errors
// are those of the package, of reading the files and of ctx.
func (c *Cargo) Deliver(ctx context.Context, host string, conn io.ReadWriteCloser,
	show func(Delivery)) (Delivery, error) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	watchdog := time.AfterFunc(c.silence, func() { conn.Close() })
	defer watchdog.Stop()
	d := &delivery{cargo: c, host: host, conn: conn, in: bufio.NewReaderSize(conn, maxLine), show: show,
		heard: func() { watchdog.Reset(c.silence) }}
	err := d.run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return d.Delivery, err
}

// delivery is the state of Deliver.
type delivery struct {
	Delivery
	cargo  *Cargo
	host   string
	conn   io.ReadWriteCloser
	in     *bufio.Reader
	show   func(Delivery)
	heard  func() // puts off the watchdog
	wanted []int
}

func (d *delivery) run() error {
	if err := d.offer(); err != nil {
		return &HostError{d.host, true, err}
	}
	if err := d.readWanted(); err != nil {
		return err
	}
	sent := make(chan error, 1)
	go func() { sent <- d.send() }()
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
	if err := readLine(d.in, &r); err != nil {
		return r, &HostError{d.host, true, err}
	}
	d.heard()
	if r.Failed != "" {
		return r, &HostError{d.host, r.IsCut, errors.New(spelling.Plain(fmt.Sprintf("%.500s", r.Failed)))}
	}
	return r, nil
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
			return &HostError{d.host, false, fmt.Errorf("it asks for file %d of %d", *r.Want,
				len(d.cargo.entries))}
		case r.Want != nil:
			last = *r.Want
			d.wanted = append(d.wanted, last)
			d.Total += d.cargo.entries[last].Bytes
		case r.IsReady:
			return nil
		}
	}
}

// send compresses all wanted files, if there are any. The error is about a file of this machine: what else
// keeps from sending, the receiver says, or its silence.
func (d *delivery) send() error {
	if len(d.wanted) == 0 {
		return nil
	}
	packed, err := zstd.NewWriter(d.conn, zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window/2))
	if err != nil {
		return err
	}
	for _, number := range d.wanted {
		f, err := regular.Open(d.cargo.paths[number])
		if err == nil {
			_, err = io.CopyN(packed, f, d.cargo.entries[number].Bytes)
			f.Close() // it was only read
			if err != nil && !errors.Is(err, io.EOF) {
				return nil // of the connection
			}
		}
		if err != nil {
			d.conn.Close() // the receiver waits for bytes that will not come
			return fmt.Errorf("%s has changed while it was sent: %w", d.cargo.paths[number], err)
		}
	}
	packed.Close() // an error is one of the connection
	return nil
}

// readResult reads progress until the receiver says how it ended.
func (d *delivery) readResult() error {
	for {
		r, err := d.next()
		switch {
		case err != nil:
			return err
		case r.OK:
			d.Done = d.Total
		case r.Done != nil && *r.Done >= d.Done && *r.Done <= d.Total:
			d.Done = *r.Done
		}
		if d.show != nil && d.Total > 0 {
			d.show(d.Delivery)
		}
		if r.OK {
			return nil
		}
	}
}
