package cluster

import (
	"context"
	"net"

	"lockstep/cluster/pass"
)

// Assign is assign, for the tests.
func Assign(available, threads []int) [][]int { return assign(available, threads) }

// LabHostOf is labHost, for the tests.
func LabHostOf(rank, world, hosts int) int { return labHost(rank, world, hosts) }

// Attend lets a coordinator of a world of two speak with a process that has proved the token, until that has
// nothing to say. It reports whether the hello was accepted and how many lines were understood after it.
func Attend(conn net.Conn) (isAdmitted bool, lines int) {
	l := newLine(conn)
	_, err := (&coordinator{world: 2}).greet(l, false)
	for isAdmitted = err == nil; err == nil; lines++ {
		_, err = l.receive()
	}
	return isAdmitted, max(0, lines-1)
}

// Enter runs a worker's side after the token was accepted.
func Enter(conn net.Conn) error {
	_, err := enter(newLine(conn), Hello{World: 2}, welcomeTimeout)
	return err
}

// Reach dials a coordinator and shows it the token.
func Reach(ctx context.Context, address string, t pass.Token) error {
	conn, err := reach(ctx, address, t, handshakeTimeout)
	if err == nil {
		conn.Close()
	}
	return err
}
