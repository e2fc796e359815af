package data

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lockstep/internal/regular"
)

const (
	connectTimeout = 4 * time.Second  // an offline machine gets its error within this time
	headerTimeout  = 15 * time.Second // from request to the first byte of the response
	stallTimeout   = 30 * time.Second // between two reads of the body
	progressPeriod = 100 * time.Millisecond
	numAttempts    = 4 // of a download whose connection breaks
)

// fetcher downloads files. A file is written to <file>.part, from which a later attempt or a later
// run continues, and is renamed when its checksum is right.
type fetcher struct {
	client   *http.Client
	progress func(Progress)
	stall    time.Duration
}

func newFetcher(progress func(Progress)) *fetcher {
	if progress == nil {
		progress = func(Progress) {}
	}
	dialer := &net.Dialer{Timeout: connectTimeout} // name resolution included
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment, // HTTPS_PROXY, as every tool has it
		DialContext:           dialer.DialContext,
		TLSHandshakeTimeout:   connectTimeout,
		ResponseHeaderTimeout: headerTimeout,
		ForceAttemptHTTP2:     true,
	}
	return &fetcher{client: &http.Client{Transport: transport}, progress: progress,
		stall: stallTimeout}
}

func (f *fetcher) close() { f.client.CloseIdleConnections() }

// cutError reports a download that was interrupted after it had begun; it can be continued.
type cutError struct{ err error }

func (e *cutError) Error() string { return "connection broke: " + e.err.Error() }
func (e *cutError) Unwrap() error { return e.err }

// fetch makes sure that file is in folder, complete and with the right checksum.
func (f *fetcher) fetch(ctx context.Context, folder string, file File) error {
	path := filepath.Join(folder, filepath.FromSlash(file.Path))
	if isFile(path) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	p, err := openPartial(ctx, path)
	if err != nil {
		return err
	}
	defer p.file.Close()
	if isFile(path) { // another process was faster; the open file is that one or empty
		os.Remove(path + ".part")
		return nil
	}
	if err := f.fill(ctx, p, file); err != nil {
		return err
	}
	return p.commit(path)
}

// fill downloads to p until its checksum is right. It continues after a broken connection, and
// starts over once if what an earlier run left is not the beginning of the file.
func (f *fetcher) fill(ctx context.Context, p *partial, file File) error {
	for attempt := 1; ; attempt++ {
		resumedFrom := p.size
		err := f.attempt(ctx, p, file)
		if cut := (*cutError)(nil); errors.As(err, &cut) && ctx.Err() == nil {
			if attempt == numAttempts || p.size == resumedFrom {
				return fmt.Errorf("%s after %d of %d bytes (kept): %w",
					file.URL, p.size, file.Bytes, err)
			}
			continue
		}
		if err != nil {
			return err
		}
		got := hex.EncodeToString(p.sum.Sum(nil))
		if got == file.SHA256 {
			return nil
		}
		if err := p.restart(); err != nil {
			return err
		}
		if resumedFrom == 0 || attempt >= numAttempts {
			return fmt.Errorf("%s: sha256 %s, want %s", file.URL, got, file.SHA256)
		}
	}
}

// attempt requests the missing part of p and appends the response.
func (f *fetcher) attempt(ctx context.Context, p *partial, file File) error {
	if p.size > file.Bytes {
		if err := p.restart(); err != nil {
			return err
		}
	}
	if p.size == file.Bytes {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, file.URL, nil)
	if err != nil {
		return err
	}
	if p.size > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", p.size))
	}
	answer, err := f.client.Do(request)
	if err != nil {
		return err // names method, address and cause
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusPartialContent && p.size > 0 &&
		strings.HasPrefix(answer.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", p.size)):
	case answer.StatusCode == http.StatusOK: // the server does not support ranges
		if err := p.restart(); err != nil {
			return err
		}
	case answer.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return errors.Join(p.restart(), &cutError{errors.New(answer.Status)})
	default:
		return fmt.Errorf("%s: %s", file.URL, answer.Status)
	}
	watchdog := time.AfterFunc(f.stall, func() {
		cancel(fmt.Errorf("no data for %v", f.stall))
	})
	defer watchdog.Stop()
	err = f.copy(p, &restartingReader{answer.Body, watchdog, f.stall}, file)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = &cutError{cause}
	}
	return err
}

// copy appends body to p until p has the size of file, and reports progress.
func (f *fetcher) copy(p *partial, body io.Reader, file File) error {
	buf := make([]byte, 64<<10)
	report := func() { f.progress(Progress{filepath.Base(file.Path), p.size, file.Bytes}) }
	report()
	last := time.Now()
	for {
		n, err := body.Read(buf)
		if p.size+int64(n) > file.Bytes {
			return fmt.Errorf("%s: more than %d bytes", file.URL, file.Bytes)
		}
		if err := p.append(buf[:n]); err != nil {
			return err
		}
		switch {
		case err == io.EOF && p.size == file.Bytes:
			report()
			return nil
		case err == io.EOF:
			return &cutError{io.ErrUnexpectedEOF}
		case err != nil:
			return &cutError{err}
		}
		if now := time.Now(); now.Sub(last) >= progressPeriod {
			last = now
			report()
		}
	}
}

// restartingReader resets the watchdog at every read.
type restartingReader struct {
	r        io.Reader
	watchdog *time.Timer
	period   time.Duration
}

func (r *restartingReader) Read(p []byte) (int, error) {
	r.watchdog.Reset(r.period)
	return r.r.Read(p)
}

// partial is a file being downloaded, with the checksum of its beginning.
type partial struct {
	file *os.File
	size int64
	sum  hash.Hash
}

// openPartial opens path's .part file, which may be left from an earlier attempt, and waits until
// no other process writes it.
func openPartial(ctx context.Context, path string) (*partial, error) {
	file, err := os.OpenFile(path+".part", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	p := &partial{file: file, sum: sha256.New()}
	if err := regular.Lock(ctx, file); err != nil {
		file.Close()
		return nil, err
	}
	if p.size, err = io.Copy(p.sum, &contextReader{ctx, file}); err != nil {
		file.Close()
		return nil, err
	}
	return p, nil
}

func (p *partial) append(b []byte) error {
	n, err := p.file.Write(b)
	p.sum.Write(b[:n])
	p.size += int64(n)
	return err
}

// restart empties the file.
func (p *partial) restart() error {
	p.sum.Reset()
	p.size = 0
	if err := p.file.Truncate(0); err != nil {
		return err
	}
	_, err := p.file.Seek(0, io.SeekStart)
	return err
}

// commit syncs the file and renames it to path.
func (p *partial) commit(path string) error {
	if err := p.file.Sync(); err != nil {
		return err
	}
	return os.Rename(p.file.Name(), path)
}
