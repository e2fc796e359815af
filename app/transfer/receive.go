package transfer

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"

	"lockstep/app/host"
	"lockstep/internal/regular"
)

const (
	reportEvery = 200 * time.Millisecond
	window      = 8 << 20 // greatest window of the compressor
)

// Receive takes files over a stream into the last of the folders, which is created if need be, or none if a
// folder before that has them all. It is the other side of [Cargo.Deliver], which is told of every error
// too; an error is returned so that the process can say so to whoever looks. Once the list of files has
// begun it gives up when nothing comes for half a minute; a goroutine may then still wait for in.
func Receive(ctx context.Context, in io.Reader, out io.Writer, folders ...string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(silence, func() { cancel(errSilent) })
	watchdog.Stop()
	defer watchdog.Stop()
	r := &receiver{ctx: ctx, in: bufio.NewReaderSize(in, maxLine), out: out,
		alive: func() { watchdog.Reset(silence) }}
	ended := make(chan error, 1)
	go func() { ended <- r.run(folders) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err == nil {
		return writeLine(out, reply{OK: true})
	}
	return errors.Join(err, writeLine(out,
		reply{Failed: err.Error(), IsCut: errors.Is(err, io.ErrUnexpectedEOF)}))
}

// errSilent is the error of a receiver to which nothing comes.
var errSilent = fmt.Errorf("nothing has come for %v: %w", silence, io.ErrUnexpectedEOF)

// receiver is the state of Receive.
type receiver struct {
	ctx     context.Context
	alive   func() // something has come, or this process is at work
	in      *bufio.Reader
	out     io.Writer
	folder  string
	files   []entry
	missing []entry

	told time.Time // when progress was last written
	done int64     // bytes that have come
}

func (r *receiver) run(folders []string) error {
	if err := r.readList(); err != nil {
		return err
	}
	r.choose(folders)
	err := r.take()
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("no room for the files in %s: free some, or set XDG_CACHE_HOME there: %w", r.folder,
			err)
	}
	return err
}

// readList reads the sender's head and its files.
func (r *receiver) readList() error {
	var h head
	if err := readLine(r.in, &h); err != nil {
		return err
	}
	if h.Protocol != protocol || h.Files < 0 || h.Files > maxFiles {
		return fmt.Errorf("protocol %.80q and %d files, want %q and at most %d", h.Protocol, h.Files,
			protocol, maxFiles)
	}
	names := map[string]bool{}
	for range h.Files {
		r.alive()
		var e entry
		if err := errors.Join(readLine(r.in, &e), e.check()); err != nil {
			return err
		}
		if names[e.Name] {
			return fmt.Errorf("%s is there twice", e.Name)
		}
		names[e.Name] = true
		r.files = append(r.files, e)
	}
	return nil
}

// choose chooses the first folder that has files of all names, else the last one.
func (r *receiver) choose(folders []string) {
	for _, r.folder = range folders {
		hasAll := r.folder != "" && len(r.files) > 0
		for _, e := range r.files {
			info, err := os.Stat(filepath.Join(r.folder, e.path()))
			hasAll = hasAll && err == nil && info.Mode().IsRegular()
		}
		if hasAll {
			return
		}
	}
}

// take asks for the files that the folder lacks, and writes what comes to them.
func (r *receiver) take() error {
	if err := os.MkdirAll(r.folder, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(r.folder)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := r.ask(root); err != nil || len(r.missing) == 0 {
		return err
	}
	unpacked, err := zstd.NewReader(r.in, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return err
	}
	defer unpacked.Close()
	scratch, remove, err := regular.MakeFolder(r.folder, "arriving")
	if err != nil {
		return err
	}
	defer remove()
	for _, e := range r.missing {
		if err := r.receive(root, filepath.Join(filepath.Base(scratch), "file"), e, unpacked); err != nil {
			return err
		}
	}
	return nil
}

// ask tells the sender which files are missing, if there is room for them.
func (r *receiver) ask(root *os.Root) error {
	needed := int64(0)
	for i, e := range r.files {
		has, err := r.has(root, e)
		if err == nil && !has {
			needed += e.Bytes
			r.missing = append(r.missing, e)
			err = writeLine(r.out, reply{Want: &i})
		}
		if err != nil {
			return err
		}
	}
	if free, total := host.Room(r.folder); total > 0 && int64(free) < needed {
		return syscall.ENOSPC
	}
	return writeLine(r.out, reply{IsReady: true})
}

// has reports whether the file is in root. One with other contents is an error.
func (r *receiver) has(root *os.Root, e entry) (bool, error) {
	f, err := root.OpenFile(e.path(), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close() // only read
	at := filepath.Join(root.Name(), e.path())
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s is no regular file", at)
	}
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(sum, pulse{r, false}), f); err != nil {
		return false, err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != e.SHA256 {
		return false, fmt.Errorf("%s is another version: sha256 %.12s there, %.12s here; remove one of "+
			"the two", at, got, e.SHA256)
	}
	return true, nil
}

// receive takes one file, at first under the name arriving, and gives it its name when it is whole. Where two
// processes send the same file, the later one replaces an equal one.
func (r *receiver) receive(root *os.Root, arriving string, e entry, in io.Reader) error {
	f, err := root.Create(arriving)
	if err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum, pulse{r, true}), io.LimitReader(in, e.Bytes))
	if err == nil && n < e.Bytes {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != e.SHA256 {
		return fmt.Errorf("%s arrived with another hash: it has changed while it was sent", e.Name)
	}
	if err := root.MkdirAll(filepath.Dir(e.path()), 0o777); err != nil {
		return err
	}
	if err := root.Rename(arriving, e.path()); err != nil {
		return err
	}
	return regular.SyncFolder(filepath.Join(r.folder, filepath.Dir(e.path())))
}

// pulse is a writer by which the sender hears that this process is at work, and how much has come.
type pulse struct {
	*receiver
	isComing bool
}

// Write tells the sender how much has come, five times a second.
func (p pulse) Write(b []byte) (int, error) {
	if p.isComing {
		p.done += int64(len(b))
	}
	p.alive()
	if time.Since(p.told) < reportEvery {
		return len(b), p.ctx.Err()
	}
	p.told = time.Now()
	return len(b), errors.Join(p.ctx.Err(), writeLine(p.out, reply{Done: &p.done}))
}
