package cluster

import (
	"context"
	"net"
)

// Assign is assign, for the tests.
func Assign(available, threads []int) [][]int { return assign(available, threads) }

// LabHostOf is labHost, for the tests.
func LabHostOf(rank, world, hosts int) int { return labHost(rank, world, hosts) }

// Preamble is what a worker sends first.
func (t Token) Preamble() string { return t.preamble() }

// Admit lets a coordinator of a world of two speak with one connection until that has nothing to say.
// It reports whether the worker was admitted and how many lines it understood after the hello.
func Admit(conn net.Conn, t Token) (isAdmitted bool, lines int) {
	c := &coordinator{token: t, world: 2}
	l, _, err := c.admit(conn)
	for isAdmitted = err == nil; err == nil; lines++ {
		_, err = l.receive()
	}
	return isAdmitted, max(0, lines-1)
}

// Enter runs a worker's side of the handshake.
func Enter(conn net.Conn, t Token) error {
	if err := prove(conn, t); err != nil {
		return err
	}
	_, err := enter(newLine(conn), Hello{World: 2}, welcomeTimeout)
	return err
}

// Reach dials a coordinator and shows it the token.
func Reach(ctx context.Context, address string, t Token) error {
	conn, err := reach(ctx, address, t, handshakeTimeout)
	if err == nil {
		conn.Close()
	}
	return err
}
