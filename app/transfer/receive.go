package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"

	"lockstep/app/host"
	"lockstep/internal/regular"
)

const (
	partSuffix  = ".part"
	reportEvery = 200 * time.Millisecond
	slack       = 16 << 20 // bytes that a disk keeps free
	window      = 8 << 20  // greatest window of the compressor
)

// Receive takes files over a stream: those that neither folder nor one of others has, into folder, which is
// created if need be. It is the other side of [Cargo.Deliver], which is told of every error too; an error
// is returned so that the process can say so to whoever looks. It gives up when nothing comes for half a
// minute; a goroutine may then still wait for in.
func Receive(ctx context.Context, in io.Reader, out io.Writer, folder string, others ...string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer watchdog.Stop()
	r := &receiver{ctx: ctx, lines: newLines(in), out: out, folder: folder,
		alive: func() { watchdog.Reset(silence) }}
	ended := make(chan error, 1)
	go func() { ended <- r.run(others) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err == nil {
		return r.say(reply{OK: true})
	}
	said := (*refused)(nil)
	switch {
	case errors.As(err, &said):
	case errors.Is(err, io.ErrUnexpectedEOF):
		said = &refused{failure{Kind: kindCut, Text: err.Error()}}
	default:
		said = &refused{failure{Kind: kindOther, Text: err.Error()}}
	}
	return errors.Join(err, r.say(reply{Failure: &said.failure}))
}

// errSilent is the error of a receiver to which nothing comes.
var errSilent = errors.New("nothing has come for 30 s")

// refused is an error that the sender should understand.
type refused struct{ failure }

// Error names the kind.
func (e *refused) Error() string { return fmt.Sprintf("receive files: %s: %s", e.Kind, e.Text) }

// receiver is the state of Receive.
type receiver struct {
	ctx     context.Context
	alive   func() // something has come, or this process is at work
	lines   lines
	out     io.Writer
	folder  string
	root    *os.Root // of folder; nil: the files are elsewhere
	files   []entry
	missing []*part // in order

	mu   sync.Mutex // of out
	told time.Time  // when progress was last written
	done int64      // bytes that have come
}

// part is a file that is missing from a byte on.
type part struct {
	entry
	number int
	from   int64
	isDone bool
}

func (r *receiver) run(others []string) error {
	if err := r.readList(); err != nil {
		return err
	}
	folder, err := r.find(others)
	if err != nil {
		return err
	}
	if folder == r.folder {
		if err := r.explain(r.listMissing()); err != nil {
			return err
		}
		defer r.root.Close()
	}
	for _, p := range r.missing {
		if err := r.say(reply{Want: &want{p.number, p.from}}); err != nil {
			return err
		}
	}
	if err := r.say(reply{Start: &start{folder}}); err != nil {
		return err
	}
	if len(r.missing) == 0 {
		return nil
	}
	return r.explain(r.fill())
}

// readList reads the sender's head and its files.
func (r *receiver) readList() error {
	var h head
	if err := r.lines.next(&h); err != nil {
		return err
	}
	if h.Protocol != protocol || h.Files < 0 || h.Files > maxFiles {
		return fmt.Errorf("protocol %.80q and %d files, want %q and at most %d", h.Protocol, h.Files,
			protocol, maxFiles)
	}
	names := map[string]bool{}
	for range h.Files {
		var e entry
		if err := r.lines.next(&e); err != nil {
			return err
		}
		if err := e.check(); err != nil {
			return err
		}
		if names[e.Name] || names[e.Name+partSuffix] {
			return fmt.Errorf("%s is there twice", e.Name)
		}
		names[e.Name] = true
		r.files = append(r.files, e)
	}
	return nil
}

// find returns the folder to use: one of others if it has all files, else that of the receiver.
func (r *receiver) find(others []string) (string, error) {
	for _, folder := range others {
		hasAll := folder != "" && len(r.files) > 0
		for _, e := range r.files {
			info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(e.Name)))
			hasAll = hasAll && err == nil && info.Mode().IsRegular()
		}
		if !hasAll {
			continue
		}
		root, err := os.OpenRoot(folder)
		if err != nil {
			return "", err
		}
		defer root.Close()
		for i, e := range r.files {
			if _, err := r.compare(root, i, e); err != nil {
				return "", err
			}
		}
		return folder, nil
	}
	return r.folder, nil
}

// compare reports whether the file is in root. One with other contents is an error.
func (r *receiver) compare(root *os.Root, number int, e entry) (has bool, err error) {
	f, err := root.OpenFile(filepath.FromSlash(e.Name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	at := filepath.Join(root.Name(), filepath.FromSlash(e.Name))
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s is no regular file", at)
	}
	sum := sha256.New()
	if err := r.copy(sum, f); err != nil {
		return false, err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != e.SHA256 {
		return false, &refused{failure{Kind: kindVersion, Text: at, File: number, Hash: got}}
	}
	return true, nil
}

// copy copies a file of this host, telling the sender that it is still at work.
func (r *receiver) copy(w io.Writer, f io.Reader) error {
	buffer := make([]byte, 1<<20)
	for {
		n, err := f.Read(buffer)
		w.Write(buffer[:n]) // to a hash
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = r.progress()
		}
		if err != nil {
			return err
		}
	}
}

// listMissing creates the folder and lists what it lacks of the files, if there is room for that.
func (r *receiver) listMissing() error {
	if err := os.MkdirAll(r.folder, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(r.folder)
	if err != nil {
		return err
	}
	r.root = root
	for i, e := range r.files {
		has, err := r.compare(root, i, e)
		if err != nil {
			return err
		}
		if has {
			continue
		}
		p := &part{entry: e, number: i}
		if info, err := root.Stat(p.path()); err == nil && info.Size() <= e.Bytes {
			p.from = info.Size()
		}
		r.missing = append(r.missing, p)
	}
	if free, total := host.Room(r.folder); total > 0 && len(r.missing) > 0 && int64(free) < r.needed()+slack {
		return &refused{failure{Kind: kindFull, Text: r.folder, Need: r.needed(), Free: int64(free)}}
	}
	return nil
}

// needed returns how many bytes are still to be written.
func (r *receiver) needed() int64 {
	n := int64(0)
	for _, p := range r.missing {
		if !p.isDone {
			n += p.Bytes - p.from
		}
	}
	return n
}

// path is the name of the file on its way.
func (p *part) path() string { return filepath.FromSlash(p.Name) + partSuffix }

// fill writes what comes to the missing files, one after another.
func (r *receiver) fill() error {
	unpacked, err := zstd.NewReader(r.lines.in, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return err
	}
	defer unpacked.Close()
	for _, p := range r.missing {
		if err := r.receive(p, unpacked); err != nil {
			return err
		}
		p.isDone = true
	}
	return nil
}

// receive completes one file, unless somebody else has done so meanwhile.
func (r *receiver) receive(p *part, in io.Reader) error {
	if err := r.root.MkdirAll(filepath.Dir(p.path()), 0o777); err != nil {
		return err
	}
	f, err := r.root.OpenFile(p.path(), os.O_RDWR|os.O_CREATE|syscall.O_NONBLOCK, 0o666)
	if err != nil {
		return err
	}
	defer f.Close() // what is not synced is checked when it is opened again
	if err := r.lock(f); err != nil {
		return err
	}
	has, err := r.compare(r.root, p.number, p.entry)
	if err != nil {
		return err
	}
	if has {
		r.root.Remove(p.path()) // made by this process, or the second name that the other has just taken away
		return r.take(io.Discard, in, p.Bytes-p.from)
	}
	return r.complete(p, f, in)
}

// complete appends what comes to the beginning of the file, checks the hash and gives the file its name.
func (r *receiver) complete(p *part, f *os.File, in io.Reader) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if !info.Mode().IsRegular() || size < p.from || size > p.Bytes {
		if size > p.Bytes && p.from == 0 { // of a larger version
			err, size = f.Truncate(0), 0
		} else {
			err = fmt.Errorf("%s is not what it was when its size was read", f.Name())
		}
		if err != nil {
			return err
		}
	}
	sum := sha256.New()
	if err := r.copy(sum, f); err != nil {
		return err
	}
	if err := r.take(io.Discard, in, size-p.from); err != nil { // somebody else has written that
		return err
	}
	if err := r.take(io.MultiWriter(f, sum), in, p.Bytes-size); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != p.SHA256 {
		damaged := &refused{failure{Kind: kindDamaged, Text: p.Name, File: p.number, Hash: got}}
		return errors.Join(damaged, f.Truncate(0))
	}
	if err := f.Sync(); err != nil {
		return err
	}
	name := filepath.FromSlash(p.Name)
	if err := r.root.Rename(p.path(), name); err != nil {
		return err
	}
	return regular.SyncFolder(filepath.Join(r.folder, filepath.Dir(name)))
}

// take copies n bytes of what comes.
func (r *receiver) take(w io.Writer, in io.Reader, n int64) error {
	buffer := make([]byte, 256<<10)
	for n > 0 {
		got, err := in.Read(buffer[:min(int64(len(buffer)), n)])
		if _, failed := w.Write(buffer[:got]); failed != nil {
			return failed
		}
		n -= int64(got)
		r.done += int64(got)
		if err == io.EOF && n > 0 {
			return io.ErrUnexpectedEOF
		}
		if err != nil && n > 0 {
			return err
		}
		if err := errors.Join(r.progress(), r.ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// lock waits for the lock of a file and tells the sender meanwhile that this process lives.
func (r *receiver) lock(f *os.File) error {
	done := make(chan struct{})
	var teller sync.WaitGroup
	teller.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				r.alive()
				r.say(reply{Done: &r.done}) // an error shows at the next write
			case <-done:
				return
			}
		}
	})
	defer teller.Wait()
	defer close(done)
	return regular.Lock(r.ctx, f)
}

// explain turns the error of a full disk into one that says how much is missing, and removes the beginnings
// of files: elsewhere on the disk somebody may need the room.
func (r *receiver) explain(err error) error {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	free, _ := host.Room(r.folder)
	full := &refused{failure{Kind: kindFull, Text: r.folder, Free: int64(free)}}
	for _, p := range r.missing {
		if !p.isDone {
			full.Need += p.Bytes
			r.root.Remove(p.path()) // of most there is none
		}
	}
	return full
}

// progress tells the sender how much is on disk, five times a second.
func (r *receiver) progress() error {
	r.alive()
	if time.Since(r.told) < reportEvery {
		return nil
	}
	r.told = time.Now()
	return r.say(reply{Done: &r.done})
}

// say writes a line to the sender.
func (r *receiver) say(line reply) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return writeLine(r.out, line)
}
