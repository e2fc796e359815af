package tcp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"lockstep/comm"
)

// MaxSocketBuffer is the largest buffer that can be asked for, in bytes.
const MaxSocketBuffer = 1 << 30

// MaxStreams is the largest number of streams of a link.
const MaxStreams = 16

// Config configures Connect.
type Config struct {
	// Rank is this process's rank. Addrs holds every rank's listening address, by rank, or "" for a
	// rank without a link to this one.
	Rank  int
	Addrs []string
	// Token is the job's secret of at least 16 bytes. Links with TLS do not need one.
	Token []byte
	// TLS, if not nil, encrypts the links (Note: sealed links). It returns the configuration of a handshake
	// with a rank, for either side, which must refuse all but that rank: that there is no other check.
	TLS func(peer int) *tls.Config
	// Streams is the number of connections of each link, over which its bytes are spread (Note: streams):
	// 1 to MaxStreams, 0 for 1. Both ends must have the same.
	Streams int
	// SocketBuffer asks the kernel for so many bytes of a socket's buffers, in each direction: a measurement,
	// since a buffer that it sizes itself grows with the link. It may give another, on Linux up to
	// net.core.wmem_max and rmem_max. 0: as it decides.
	SocketBuffer int
	// Generation of the job's membership; peers of another generation are refused.
	Generation uint32
}

func (c *Config) validate() error {
	if c.Rank < 0 || c.Rank >= len(c.Addrs) {
		return fmt.Errorf("tcp: connect: rank %d of %d", c.Rank, len(c.Addrs))
	}
	if c.TLS == nil && len(c.Token) < minTokenSize {
		return fmt.Errorf("tcp: connect: token of %d bytes, want at least %d", len(c.Token),
			minTokenSize)
	}
	if c.Streams < 0 || c.Streams > MaxStreams {
		return fmt.Errorf("tcp: connect: %d streams, want 1 to %d", c.Streams, MaxStreams)
	}
	if c.SocketBuffer < 0 || c.SocketBuffer > MaxSocketBuffer {
		return fmt.Errorf("tcp: connect: socket buffers of %d bytes, want 0 to %d", c.SocketBuffer,
			MaxSocketBuffer)
	}
	return nil
}

// numStreams is the number of connections of each link.
func (c *Config) numStreams() int { return max(1, c.Streams) }

// isLinked reports whether this rank has a link to rank.
func (c *Config) isLinked(rank int) bool { return rank != c.Rank && c.Addrs[rank] != "" }

// Connect links this rank with all others and returns its mesh. It dials lower ranks repeatedly
// until they listen, and accepts higher ranks on l, until ctx ends; the error then names the
// missing ranks and the connection refused last. l stays open.
func Connect(ctx context.Context, l *Listener, c Config) (comm.Mesh, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	j := &joining{config: c, ends: make([][]end, len(c.Addrs))}
	above := 0
	for r := range c.Addrs {
		if c.isLinked(r) {
			j.ends[r] = make([]end, c.numStreams())
			j.missing += len(j.ends[r])
		}
		if c.isLinked(r) && r > c.Rank {
			above++
		}
	}
	j.ctx, j.cancel = context.WithCancel(ctx)
	defer j.cancel()
	if j.missing == 0 {
		j.cancel()
	}
	for r := range c.Rank {
		if c.isLinked(r) {
			j.work.Go(func() {
				// One after the other: a rank's dialers are never many among a listener's strangers.
				for stream := range c.numStreams() {
					j.dial(r, stream)
				}
			})
		}
	}
	if above > 0 {
		j.accept(l)
	}
	j.work.Wait()
	if err := j.result(ctx); err != nil {
		j.close()
		return nil, err
	}
	return newMesh(&c, j.ends)
}

// joining is a mesh whose links are being made.
type joining struct {
	config Config
	ctx    context.Context // ends when all streams are there, or on failure
	cancel func()
	work   sync.WaitGroup

	mu      sync.Mutex
	ends    [][]end // by rank and number of the stream
	missing int     // streams
	refused error   // the last one
	fatal   error
}

// end is this rank's end of a stream.
type end struct {
	conn   net.Conn
	seal   *seal // nil if links are not encrypted
	number int   // of the connection among those accepted; 0 if this rank dialed
}

// add keeps a connection whose handshake succeeded, and of several for one stream the one accepted last: the
// peer gave up on the earlier ones and dialed again. Their handshakes may end in another order. If an
// earlier one ends first and no other stream is missing, the later one is refused, and the first use of the
// link fails.
func (j *joining) add(rank, stream int, e end) {
	j.mu.Lock()
	defer j.mu.Unlock()
	place := &j.ends[rank][stream]
	if place.conn != nil {
		if e.number < place.number {
			e.conn.Close()
			return
		}
		place.conn.Close()
		j.missing++
	}
	*place = e
	j.missing--
	if j.missing == 0 {
		j.cancel()
	}
}

func (j *joining) refuse(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.refused = err
}

// dial makes a stream to a lower rank, which may not be listening yet.
func (j *joining) dial(rank, stream int) {
	const pause = 20 * time.Millisecond
	d := net.Dialer{Control: Insist}
	for j.ctx.Err() == nil {
		conn, err := d.DialContext(j.ctx, "tcp", j.config.Addrs[rank])
		if err == nil {
			stop := context.AfterFunc(j.ctx, func() { conn.SetDeadline(time.Now()) })
			s, failed := greet(conn, &j.config, rank, stream)
			stop()
			if err = failed; err == nil {
				j.add(rank, stream, end{conn: conn, seal: s})
				return
			}
			conn.Close()
		}
		if wrong := (*HelloError)(nil); errors.As(err, &wrong) {
			j.mu.Lock()
			j.fatal = fmt.Errorf("rank %d at %s: %w", rank, j.config.Addrs[rank], err)
			j.mu.Unlock()
			j.cancel()
			return
		}
		if j.ctx.Err() == nil {
			j.refuse(err)
		}
		select {
		case <-j.ctx.Done():
		case <-time.After(pause):
		}
	}
}

// accept accepts connections until all streams of higher ranks are there. It closes those that are not a
// peer's.
func (j *joining) accept(l *Listener) {
	stop := context.AfterFunc(j.ctx, func() { l.tcp.SetDeadline(time.Now()) })
	defer l.tcp.SetDeadline(time.Time{})
	defer stop()
	var strangers Strangers
	for number := 1; j.ctx.Err() == nil; number++ {
		conn, err := strangers.Accept(l.tcp)
		if err != nil {
			if j.ctx.Err() == nil {
				j.mu.Lock()
				j.fatal = fmt.Errorf("tcp: connect: %w", err)
				j.mu.Unlock()
				j.cancel()
			}
			return
		}
		j.work.Go(func() {
			defer strangers.Remove(conn)
			stop := context.AfterFunc(j.ctx, func() { conn.SetDeadline(time.Now()) })
			defer stop()
			from, stream, s, err := welcome(conn, &j.config)
			if err != nil {
				conn.Close()
				j.refuse(err)
				return
			}
			j.add(from, stream, end{conn, s, number})
		})
	}
}

// result returns an error that names the missing ranks, if any.
func (j *joining) result(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.missing == 0 {
		return nil
	}
	if j.fatal != nil {
		return j.fatal
	}
	var ranks []int
	for r, ends := range j.ends {
		if slices.ContainsFunc(ends, func(e end) bool { return e.conn == nil }) {
			ranks = append(ranks, r)
		}
	}
	err := fmt.Errorf("tcp: connect rank %d: ranks %v missing: %w", j.config.Rank, ranks, ctx.Err())
	if j.refused != nil {
		err = fmt.Errorf("%w (last refused: %w)", err, j.refused)
	}
	return err
}

func (j *joining) close() {
	for _, e := range slices.Concat(j.ends...) {
		if e.conn != nil {
			e.conn.Close()
		}
	}
}
