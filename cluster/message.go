package cluster

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"lockstep/cluster/pass"
)

// Hello describes a worker that joins.
type Hello struct {
	Rank   int    `json:"rank"`
	World  int    `json:"world"`
	PID    int    `json:"pid"`
	Host   string `json:"host"`
	Listen string `json:"listen"` // address at which it accepts its peers' data links
	// Generation is how often the job was started before, as the worker was told.
	Generation uint32 `json:"generation,omitempty"`
	// Terms is what the processes of the job must agree on, see Meeting.Agree; opaque to this package. With
	// the rest of the hello it fits a line.
	Terms json.RawMessage `json:"terms,omitempty"`
	// Key is the public part of the worker's key, of which it gets a certificate.
	Key []byte `json:"key,omitempty"`
}

// Welcome is sent to every worker once all have joined.
type Welcome struct {
	Addresses []string        `json:"addresses"` // data link address by rank
	Hosts     []string        `json:"hosts"`     // name of the host by rank
	Job       json.RawMessage `json:"job"`       // the job; opaque to this package
	// Encryption of the links between workers by TCP.
	Encryption Encryption `json:"encryption"`
	// Streams of each of those links; 0: one.
	Streams int `json:"streams,omitempty"`
	// SocketBuffer of their sockets in bytes; 0: as the kernel decides.
	SocketBuffer int `json:"socket_buffer,omitempty"`
	// Certificate is what the worker shows its peers on links that are encrypted.
	Certificate *pass.Certificate `json:"certificate,omitempty"`
	// Secret is shared by all workers, who prove it to each other on links that are not encrypted.
	Secret []byte `json:"secret,omitempty"`
	// Segment is the path of the shared memory, if the workers use any, for a worker of this machine that
	// another launcher has started.
	Segment string `json:"segment,omitempty"`
	// Pulse is for a worker on another host than the launcher; see Note: pulses. Nil: it sends none.
	Pulse *PulseKey `json:"pulse,omitempty"`
}

// Ended is the last message to a worker that another launcher has started.
type Ended struct {
	Status int `json:"status"` // with which every process of the job ends
}

// Progress is a worker's report of its state.
type Progress struct {
	Phase   string  `json:"phase"`
	Step    int     `json:"step"`             // finished steps
	Steps   int     `json:"steps"`            // of the run; 0 before training, or if the length is a time
	Length  float64 `json:"length,omitempty"` // of the run in seconds; 0: in steps
	From    int     `json:"from,omitempty"`   // steps done before the run was resumed
	Epoch   int     `json:"epoch"`
	Loss    float64 `json:"loss"`    // mean over the last step's global batch
	Samples int64   `json:"samples"` // finished, over all workers
	Seconds float64 `json:"seconds"` // since training began
	Trained float64 `json:"trained"` // to the end of the last step, without evaluations
	// Scored is the part of the evaluation in progress that is done, and Scoring how many seconds it took.
	Scored  float64 `json:"scored,omitempty"`
	Scoring float64 `json:"scoring,omitempty"`
	// Number counts the reports of a worker, from 1; Session.Report sets it.
	Number uint64 `json:"number,omitempty"`
	// Moves grows while the work makes progress; see Note: dead and stuck.
	Moves uint64 `json:"moves"`
	// Limit is how many seconds may pass without progress in this phase; 0 means any number.
	Limit float64 `json:"limit"`
	// Wait is what a collective waits for, or nil.
	Wait *Wait `json:"wait,omitempty"`
}

// Failure is a worker's last message when it cannot continue.
type Failure struct {
	Status int    `json:"status"` // exit status of its kind of error
	Text   string `json:"text"`
	// Noticed says that another worker, Lost, went away first, so this worker is not the cause.
	Noticed bool `json:"noticed"`
	Lost    int  `json:"lost"`
	// In is the collective that the worker was in, if two workers were in different ones; else "".
	In string `json:"in,omitempty"`
}

// message goes from coordinator to worker or back; exactly one field is set. See Note: sizes.
type message struct {
	Hello    *Hello          `json:"hello,omitempty"`
	Welcome  *Welcome        `json:"welcome,omitempty"`
	Progress *Progress       `json:"progress,omitempty"`
	Event    json.RawMessage `json:"event,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Failure  *Failure        `json:"failure,omitempty"`
	Refused  string          `json:"refused,omitempty"` // why the hello was not accepted
	Heard    bool            `json:"heard,omitempty"`   // the launcher has read a Progress (acknowledgement)
	Stop     bool            `json:"stop,omitempty"`
	Verdict  *WorkerError    `json:"verdict,omitempty"` // why the launcher ends the run
	// A worker asks for files, which come in parts; see Session.Fetch.
	Fetch   string   `json:"fetch,omitempty"`
	Part    []byte   `json:"part,omitempty"`
	Fetched *Fetched `json:"fetched,omitempty"`
	// The others are for workers that another launcher has started.
	Dump  bool   `json:"dump,omitempty"`  // asks for the stacks of a worker that is stuck
	Asked bool   `json:"asked,omitempty"` // a signal has asked the worker's process to stop
	Ended *Ended `json:"ended,omitempty"`
	// Piece is a part of the text of a message that is too long for a line; another one follows if IsCut.
	Piece []byte `json:"piece,omitempty"`
	IsCut bool   `json:"cut,omitempty"`
}

// Note: sizes
//
// A line has less than maxLine bytes, and a message that needs more is sent in pieces, up to maxMessage: what
// belongs to the application (the job, events, results) and the lists of all ranks may grow with its input. A
// beat always fits a line, and passes between the pieces of another message. Texts for people are cut, and
// say so. A hello is read before its sender is known to belong to the run, so it is a single line.
const (
	maxLine      = 64 << 10
	maxPiece     = 32 << 10 // as JSON, it fits a line
	maxMessage   = 64 << 20
	maxName      = 256
	maxText      = 4 << 10          // bytes of what a collective waits for, or of a likely cause
	writeTimeout = 10 * time.Second // a peer that does not read for this long is lost
)

// bounded returns m with its texts cut.
func (m message) bounded() message {
	m.Refused = shortened(m.Refused, maxTold)
	if m.Hello != nil {
		h := *m.Hello
		h.Host = cutText(h.Host, maxName)
		m.Hello = &h
	}
	if m.Progress != nil {
		p := *m.Progress
		p.Phase, p.Wait = shortened(p.Phase, maxName), p.Wait.bounded()
		m.Progress = &p
	}
	if m.Failure != nil {
		f := *m.Failure
		f.Text, f.In = shortened(f.Text, maxTold), shortened(f.In, maxText)
		m.Failure = &f
	}
	if m.Verdict != nil {
		v := *m.Verdict
		v.Text, v.Cause = shortened(v.Text, maxTold), shortened(v.Cause, maxText)
		v.Accounts, v.Wait = v.Accounts[:min(len(v.Accounts), maxAccounts)], v.Wait.bounded()
		m.Verdict = &v
	}
	return m
}

// bounded returns w with its text cut.
func (w *Wait) bounded() *Wait {
	if w == nil {
		return nil
	}
	return &Wait{w.Rank, shortened(w.What, maxText)}
}

// shortened returns text, or if it has more than size bytes its beginning and how much was left out.
func shortened(text string, size int) string {
	if len(text) <= size {
		return text
	}
	kept := cutText(text, size)
	return fmt.Sprintf("%s ... (%d bytes more)", kept, len(text)-len(kept))
}

// line is one end of a control connection. Several goroutines may send; one may receive.
type line struct {
	conn       net.Conn
	raw        net.Conn      // the connection below its encryption; conn if there is none
	timeout    time.Duration // of a send; 0 means none
	reader     *bufio.Reader
	isGreeting bool       // no hello was accepted yet, so there are no pieces
	pieces     []byte     // received of a message
	order      sync.Mutex // of messages other than beats, which may have several lines
	mu         sync.Mutex // of a line
}

// isElsewhere reports whether the other end is on another host: on this one it would have dialled from the
// address at which it was accepted.
func (l *line) isElsewhere() bool {
	here, isTCP := l.conn.LocalAddr().(*net.TCPAddr)
	there, _ := l.conn.RemoteAddr().(*net.TCPAddr)
	return isTCP && there != nil && !here.IP.Equal(there.IP) && !there.IP.IsLoopback()
}

func newLine(conn net.Conn) *line {
	return &line{conn: conn, raw: conn, timeout: writeTimeout, reader: bufio.NewReaderSize(conn, maxLine)}
}

func (l *line) send(m message) error {
	text, err := json.Marshal(m.bounded())
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	if len(text) > maxMessage {
		return fmt.Errorf("message of %d bytes, at most %d fit", len(text), maxMessage)
	}
	if m.Progress == nil && !m.Heard {
		l.order.Lock()
		defer l.order.Unlock()
	}
	if len(text) < maxLine {
		return l.write(text)
	}
	for len(text) > 0 {
		piece := message{Piece: text[:min(len(text), maxPiece)]}
		text = text[len(piece.Piece):]
		piece.IsCut = len(text) > 0
		line, err := json.Marshal(piece)
		if err == nil {
			err = l.write(line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// write writes one line.
func (l *line) write(text []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timeout > 0 {
		if err := l.conn.SetWriteDeadline(time.Now().Add(l.timeout)); err != nil {
			return err
		}
	}
	_, err := l.conn.Write(append(text, '\n'))
	return err
}

// receive returns the next message, of which it has then read all pieces.
func (l *line) receive() (message, error) {
	for {
		var m message
		err := ReadLine(l.reader, &m)
		if err != nil || m.Piece == nil {
			return m, err
		}
		if l.isGreeting || len(l.pieces)+len(m.Piece) > maxMessage {
			return message{}, fmt.Errorf("message of more than %d bytes", maxMessage)
		}
		l.pieces = append(l.pieces, m.Piece...)
		if m.IsCut {
			continue
		}
		text := l.pieces
		l.pieces, m = nil, message{}
		if err = json.Unmarshal(text, &m); err != nil {
			err = fmt.Errorf("decode message: %w", err)
		}
		m.Piece = nil
		return m, err
	}
}

// ReadLine reads a line of JSON, of at most the size of r, into a value. At the end of r the error is io.EOF.
func ReadLine(r *bufio.Reader, value any) error {
	text, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return fmt.Errorf("line of more than %d bytes", r.Size())
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("decode a line: %w", err)
	}
	return nil
}
