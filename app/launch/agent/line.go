package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/cluster"
)

const (
	maxLine   = 1 << 20          // bytes of a line, with its end
	beatEvery = time.Second      // greatest time between two lines of one side
	silence   = 10 * time.Second // after which the other side counts as lost
)

// message is one line between console and agent. At most one field is set; none is a beat.
type message struct {
	Hello *Hello `json:"hello,omitempty"` // the agent's first line
	Ask   *ask   `json:"ask,omitempty"`   // of the console
	Reply *reply `json:"reply,omitempty"` // to an ask
	Ended string `json:"ended,omitempty"` // the agent's last line: why it ends
	// The others are about the command of a job, which runs on the first host.
	Output *output `json:"output,omitempty"` // of the command
	Exit   *ended  `json:"exit,omitempty"`   // of the command
	Signal string  `json:"signal,omitempty"` // for the command
	// Envelope is an order of the command on its way to a host, or a report of a host on its way to it.
	Envelope *cluster.Envelope `json:"envelope,omitempty"`
}

// Hello describes an agent.
type Hello struct {
	Version  string `json:"version"`  // of the source; both sides have the same
	Hash     string `json:"hash"`     // SHA-256 of the agent's program, in hexadecimal
	Platform string `json:"platform"` // such as linux/amd64
	PID      int    `json:"pid"`
	Jobs     string `json:"jobs"` // folder of jobs of other machines
}

// ask asks the agent for something; the reply has the same number.
type ask struct {
	Number uint64          `json:"number"`
	Name   string          `json:"name"`
	Body   json.RawMessage `json:"body,omitempty"`
}

// reply answers an ask; with an Error there is no Body.
type reply struct {
	Number uint64          `json:"number"`
	Body   json.RawMessage `json:"body,omitempty"`
	Error  string          `json:"error,omitempty"`
	Status int             `json:"status,omitempty"` // exit status of the kind of error
}

// line is one end of a connection. Several goroutines may send; one may receive.
type line struct {
	chatter string // the last line that was skipped
	in      *bufio.Reader
	ear     *ear
	queue   chan parcel
	closed  chan struct{} // nothing is sent any more
	close   func()
}

// parcel is a line that waits to be written.
type parcel struct {
	text    []byte
	written chan<- struct{} // closed then; may be nil
}

// queued is how many lines wait to be written before send blocks.
const queued = 64

// errClosed is the error of sending over a line that has ended.
var errClosed = errors.New("the connection has ended")

// newLine returns a line that is to be closed. Its goroutine ends when the line is closed, or as soon as out
// returns from a Write.
func newLine(in io.Reader, out io.Writer) *line {
	e := &ear{in: in}
	l := &line{in: bufio.NewReaderSize(e, maxLine), ear: e, queue: make(chan parcel, queued),
		closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	go l.write(out)
	return l
}

// write writes what is sent.
func (l *line) write(out io.Writer) {
	defer l.close()
	for {
		select {
		case p := <-l.queue:
			if _, err := out.Write(p.text); err != nil {
				return // the reader notices the end of the connection
			}
			if p.written != nil {
				close(p.written)
			}
		case <-l.closed:
			return
		}
	}
}

// send sends a line. It blocks while too many others wait because the other side does not read.
func (l *line) send(m message) error { return l.post(m, nil) }

// lastWords is the time in which the last line of an agent has to leave.
const lastWords = time.Second

// flush sends a line and waits until it is written, for some time.
func (l *line) flush(m message) {
	written, late := make(chan struct{}), time.After(lastWords)
	go l.post(m, written) // what is not written was not waited for
	select {
	case <-written:
	case <-late:
	case <-l.closed:
	}
}

func (l *line) post(m message, written chan<- struct{}) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode a line: %w", err)
	}
	if len(text) >= maxLine {
		return fmt.Errorf("line of %d bytes, at most %d fit", len(text), maxLine-1)
	}
	select {
	case l.queue <- parcel{append(text, '\n'), written}:
		return nil
	case <-l.closed:
		return errClosed
	}
}

// receive reads a line.
func (l *line) receive() (m message, err error) {
	err = cluster.ReadLine(l.in, &m)
	return m, err
}

// ear is a reader that knows for how many beats it has been waiting.
type ear struct {
	in    io.Reader
	beats atomic.Int64 // since the Read in progress began; far below 0 if there is none
}

// Read reads as in does.
func (e *ear) Read(p []byte) (int, error) {
	e.beats.Store(0)
	defer e.beats.Store(math.MinInt32)
	return e.in.Read(p)
}

// waits notes a beat, and returns for how long the Read that is in progress has been waiting; if there is
// none, less than 0.
func (e *ear) waits() time.Duration { return time.Duration(e.beats.Add(1)) * beatEvery }

// beat sends a beat every second, unless other lines wait to be written. It returns true when nothing was
// heard for too long, and false when done is closed. Time is counted in beats, so that the time in which this
// process was stopped does not count.
func (l *line) beat(done <-chan struct{}) (isSilent bool) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return false
		case <-tick.C:
		}
		if l.ear.waits() > silence {
			return true
		}
		select {
		case l.queue <- parcel{text: []byte("{}\n")}:
		default:
		}
	}
}
