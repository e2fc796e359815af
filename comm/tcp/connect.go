package tcp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"lockstep/comm"
)

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
	return nil
}

// isLinked reports whether this rank has a link to rank.
func (c *Config) isLinked(rank int) bool { return rank != c.Rank && c.Addrs[rank] != "" }

// Connect links this rank with all others and returns its mesh. It dials lower ranks repeatedly
// until they listen, and accepts higher ranks on l, until ctx ends; the error then names the
// missing ranks and the connection refused last. l stays open.
func Connect(ctx context.Context, l *Listener, c Config) (comm.Mesh, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	j := &joining{config: c, conns: make([]net.Conn, len(c.Addrs)), seals: make([]*seal, len(c.Addrs))}
	above := 0
	for r := range c.Addrs {
		if c.isLinked(r) {
			j.missing++
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
			j.work.Go(func() { j.dial(r) })
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
	return newMesh(c.Rank, j.conns, j.seals)
}

// joining is a mesh whose links are being made.
type joining struct {
	config Config
	ctx    context.Context // ends when all ranks are linked, or on failure
	cancel func()
	work   sync.WaitGroup

	mu      sync.Mutex
	conns   []net.Conn // by rank
	seals   []*seal    // by rank; nil if links are not encrypted
	missing int
	refused error // the last one
	fatal   error
}

// add keeps a connection whose handshake succeeded.
func (j *joining) add(rank int, conn net.Conn, s *seal) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.conns[rank] != nil { // the peer gave up on the earlier connection and dialed again
		j.conns[rank].Close()
		j.missing++
	}
	j.conns[rank], j.seals[rank] = conn, s
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

// dial connects to a lower rank, which may not be listening yet.
func (j *joining) dial(rank int) {
	const pause = 20 * time.Millisecond
	d := net.Dialer{Control: Insist}
	for j.ctx.Err() == nil {
		conn, err := d.DialContext(j.ctx, "tcp", j.config.Addrs[rank])
		if err == nil {
			stop := context.AfterFunc(j.ctx, func() { conn.SetDeadline(time.Now()) })
			s, failed := greet(conn, &j.config, rank)
			stop()
			if err = failed; err == nil {
				j.add(rank, conn, s)
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

// accept accepts connections until all higher ranks are linked. It closes those that are not a
// peer's.
func (j *joining) accept(l *Listener) {
	stop := context.AfterFunc(j.ctx, func() { l.tcp.SetDeadline(time.Now()) })
	defer l.tcp.SetDeadline(time.Time{})
	defer stop()
	var strangers Strangers
	for j.ctx.Err() == nil {
		conn, err := l.tcp.Accept()
		if err != nil {
			if j.ctx.Err() == nil {
				j.mu.Lock()
				j.fatal = fmt.Errorf("tcp: connect: %w", err)
				j.mu.Unlock()
				j.cancel()
			}
			return
		}
		strangers.Add(conn)
		j.work.Go(func() {
			defer strangers.Remove(conn)
			stop := context.AfterFunc(j.ctx, func() { conn.SetDeadline(time.Now()) })
			defer stop()
			from, s, err := welcome(conn, &j.config)
			if err != nil {
				conn.Close()
				j.refuse(err)
				return
			}
			j.add(from, conn, s)
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
	for r, conn := range j.conns {
		if conn == nil && j.config.isLinked(r) {
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
	for _, conn := range j.conns {
		if conn != nil {
			conn.Close()
		}
	}
}
