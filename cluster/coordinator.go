package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"lockstep/cluster/pass"
	"lockstep/comm/tcp"
)

const handshakeTimeout = 5 * time.Second // from accept to hello

// maxRefusals is how many processes that may not join are reported.
const maxRefusals = 16

// event is a change of a worker's state. Exactly one of message, lost, exit, host and refused is set.
type event struct {
	rank    int
	line    *line // the connection of the event; set with message and lost
	message message
	lost    error // why the connection ended
	exit    *exit
	host    *HostError // of several workers
	refused error      // why a process may not join; of no rank
}

// coordinator serves the control connections of one run and turns what workers send into events.
type coordinator struct {
	listener  net.Listener    // nil if every worker inherits its connection
	authority *pass.Authority // of the run; nil if all processes come by a Unix socket
	secret    []byte          // of the workers, see Welcome
	world     int
	events    chan<- event  // nil: nobody wants any
	quit      chan struct{} // closed by close: nobody receives events any more
	strangers tcp.Strangers // connections that have not sent the token yet
	meeting   *Meeting      // of workers that another launcher has started, or nil
	running   sync.WaitGroup
	segments  []*os.File // shared memory that guests open by its path
	pulses    *pulses    // nil if no worker is on another host, or without UDP
	files     fileSource // of LaunchConfig
	// generation is how often the job was started before.
	generation uint32
	mu         sync.Mutex
	refusals   int               // that were reported
	open       map[net.Conn]bool // nil after close
}

// newCoordinator returns a coordinator that is not reachable yet; see Note: control connections.
func newCoordinator(world int, a *pass.Authority, events chan<- event) *coordinator {
	c := &coordinator{authority: a, world: world, events: events, quit: make(chan struct{}),
		open: map[net.Conn]bool{}, secret: make([]byte, secretSize)}
	rand.Read(c.secret) // never fails: it ends the program when the system has no entropy
	return c
}

// secretSize is the length of the secret of a run's workers.
const secretSize = 32

// listen binds host:port (port 0: any free one) and begins to accept.
func (c *coordinator) listen(host string, port int) error {
	address := net.JoinHostPort(host, strconv.Itoa(port))
	listener, err := listenOn(address)
	if err != nil {
		return &RendezvousError{Op: "listen on", Addr: address, Err: err}
	}
	c.listener = listener
	c.running.Go(c.accept)
	return nil
}

// listenOn listens on one interface of this machine. What it accepts insists as the workers' connections do.
func listenOn(address string) (*net.TCPListener, error) {
	on, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w; name an address of this machine with --master-addr or %s", err,
			EnvMasterAddr)
	}
	if on.IP == nil || on.IP.IsUnspecified() {
		return nil, errors.New("refusing to listen on all interfaces; name one with --master-addr or " +
			EnvMasterAddr)
	}
	config := net.ListenConfig{Control: tcp.Insist}
	config.SetMultipathTCP(false) // has not the options of Insist
	listener, err := config.Listen(context.Background(), "tcp", on.String())
	switch {
	case err == nil:
		return listener.(*net.TCPListener), nil
	case errors.Is(err, syscall.EADDRINUSE):
		err = fmt.Errorf("port %d is in use; choose another with --master-port or %s", on.Port, EnvMasterPort)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		err = fmt.Errorf("%s is no address of this machine, where rank 0 is; name one with --master-addr or "+
			"%s, such as 127.0.0.1, or one that the other hosts reach", on.IP, EnvMasterAddr)
	case errors.Is(err, syscall.EACCES):
		err = fmt.Errorf("port %d is for the superuser; choose one from 1024 with --master-port or %s",
			on.Port, EnvMasterPort)
	}
	return nil, err
}

// attend begins to accept the workers of a meeting.
func (c *coordinator) attend(m *Meeting) {
	c.meeting, c.listener = m, m.listener
	c.running.Go(c.accept)
}

// address returns the address that workers dial, or nil if they inherit their connections or dial a Unix
// socket.
func (c *coordinator) address() *net.TCPAddr {
	if c.listener == nil {
		return nil
	}
	a, _ := c.listener.Addr().(*net.TCPAddr)
	return a
}

// welcomeOf returns the welcome of a rank with a public key. A guest that came by a Unix socket has no other
// source of the shared memory.
func (c *coordinator) welcomeOf(rank int, key []byte, w Welcome) (_ Welcome, err error) {
	if w.Encryption == EncryptTLS {
		if w.Certificate, err = c.authority.Certify(rank, key); err != nil {
			return w, err
		}
	} else {
		w.Secret = c.secret
	}
	if c.meeting.isGuest(rank) && c.meeting.socket != "" && len(c.segments) > 0 {
		w.Segment = pathOf(c.segments[0])
	}
	return w, nil
}

// place names the rendezvous, for errors.
func (c *coordinator) place() string {
	if c.listener == nil {
		return theLauncher
	}
	return c.listener.Addr().String()
}

// adopt serves the connection of a worker that inherited its other end.
func (c *coordinator) adopt(conn net.Conn) {
	c.track(conn)
	c.running.Go(func() {
		defer c.forget(conn)
		l := newLine(conn)
		if hello, err := c.greet(l, false); err == nil {
			c.serve(l, hello)
		}
	})
}

func (c *coordinator) accept() {
	for {
		conn, err := c.strangers.Accept(c.listener)
		if err != nil {
			return // closed
		}
		if !c.track(conn) && c.meeting == nil { // a guest may join at the end, to hear of it
			conn.Close()
			return
		}
		c.running.Go(func() {
			defer c.forget(conn)
			admit := c.admit
			if c.meeting != nil {
				admit = func(conn net.Conn) (*line, *Hello, error) { return c.meeting.admit(c, conn) }
			}
			l, hello, err := admit(conn)
			if err != nil {
				c.refuse(conn, err)
				return
			}
			select {
			case <-c.quit: // a guest that came at the end hears of it from the meeting
			default:
				c.serve(l, hello)
			}
		})
	}
}

// refuse reports a process that may not join. Strangers are no news: anybody can connect.
func (c *coordinator) refuse(conn net.Conn, err error) {
	wrong := (*helloError)(nil)
	if c.events == nil || errors.Is(err, pass.ErrStranger) || !pass.IsFinal(err) && !errors.As(err, &wrong) {
		return
	}
	c.mu.Lock()
	c.refusals++
	isNews := c.refusals <= maxRefusals
	c.mu.Unlock()
	if isNews {
		c.post(event{refused: refusal(conn, err)})
	}
}

// refusal is the error about a process that may not join.
func refusal(conn net.Conn, why error) error {
	if _, isTCP := conn.RemoteAddr().(*net.TCPAddr); !isTCP {
		return fmt.Errorf("refused a process: %w", why)
	}
	return fmt.Errorf("refused a process at %v: %w", conn.RemoteAddr(), why)
}

// helloError says why a process with the right token does not belong to the run.
type helloError struct{ why string }

func (e *helloError) Error() string { return e.why }

// serve handles one worker's connection until it ends.
func (c *coordinator) serve(l *line, hello *Hello) {
	c.post(event{rank: hello.Rank, line: l, message: message{Hello: hello}})
	var isGiving atomic.Bool
	for {
		m, err := l.receive()
		if err != nil {
			c.post(event{rank: hello.Rank, line: l, lost: err})
			return
		}
		if m.Fetch != "" {
			c.give(l, m.Fetch, &isGiving)
			continue
		}
		c.post(event{rank: hello.Rank, line: l, message: m})
		if m.Progress != nil {
			l.send(message{Heard: true}) // if that fails, receiving fails too
		}
	}
}

// admit lets a process join by its token, over a TCP connection, and receives its hello.
func (c *coordinator) admit(conn net.Conn) (*line, *Hello, error) {
	if err := conn.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return nil, nil, err
	}
	inside, err := c.authority.Admit(conn)
	c.strangers.Remove(conn)
	if err != nil {
		return nil, nil, err
	}
	if err := conn.SetDeadline(time.Now().Add(reachTime)); err != nil { // it is no stranger any more
		return nil, nil, err
	}
	l := newLine(inside)
	l.raw = conn
	hello, err := c.greet(l, c.meeting != nil)
	if err != nil {
		return nil, nil, err
	}
	return l, hello, conn.SetDeadline(time.Time{})
}

// greet receives a worker's hello and refuses a worker that does not belong to the run. A guest has been
// started by another launcher.
func (c *coordinator) greet(l *line, isGuest bool) (*Hello, error) {
	l.isGreeting = true
	m, err := l.receive()
	l.isGreeting = false
	if err == nil && m.Hello == nil {
		err = errors.New("no hello")
	}
	if err != nil {
		return nil, err
	}
	world, isOurs := c.world, true
	if isGuest {
		world, isOurs = c.meeting.place.World, c.meeting.isGuest(m.Hello.Rank)
	}
	why := ""
	switch h := m.Hello; {
	case h.World != world || h.Rank < 0 || h.Rank >= c.world || !isOurs:
		why = fmt.Sprintf("rank %d of %d does not belong to this run of %d workers", h.Rank, h.World, c.world)
	case h.Generation != c.generation:
		why = fmt.Sprintf("rank %d is of start %d of the job, this is start %d; set %s to the same number "+
			"for all", h.Rank, h.Generation, c.generation, EnvGeneration)
	default:
		if isGuest && c.meeting.Agree != nil {
			why = c.meeting.Agree(h.Terms)
		}
		if why == "" {
			return h, nil
		}
		why = fmt.Sprintf("rank %d (pid %d on %s) is of another job: %s", h.Rank, h.PID, h.Host, why)
	}
	l.send(message{Refused: why}) // best effort: the connection is closed in any case
	return nil, &helloError{why}
}

func (c *coordinator) post(e event) {
	select {
	case c.events <- e:
	case <-c.quit:
	}
}

func (c *coordinator) track(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		return false
	}
	c.open[conn] = true
	return true
}

func (c *coordinator) forget(conn net.Conn) {
	if !c.meeting.holds(conn) {
		conn.Close()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
}

// full stops accepting connections: all workers have joined.
func (c *coordinator) full() {
	switch {
	case c.meeting != nil:
		c.meeting.close()
	case c.listener != nil:
		c.listener.Close()
	}
}

// close ends serving and waits for the goroutines that do. It closes every connection but those of a meeting,
// which tells them of the end; who is joining it has a second.
func (c *coordinator) close() {
	close(c.quit)
	if c.meeting != nil {
		c.meeting.acceptUntil(time.Unix(0, 0)) // the processes that come later hear of the end
	} else {
		c.full()
	}
	c.mu.Lock()
	for conn := range c.open {
		switch {
		case c.meeting == nil:
			conn.Close()
		case c.meeting.holds(conn):
			conn.SetReadDeadline(time.Unix(0, 0)) // nobody reads from it until the meeting ends
		default:
			conn.SetDeadline(time.Now().Add(time.Second))
		}
	}
	c.open = nil
	c.mu.Unlock()
	c.running.Wait()
	c.pulses.close()
	for _, f := range c.segments {
		f.Close()
	}
}
