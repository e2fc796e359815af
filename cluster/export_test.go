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
	conn, err := Member{Address: address, Token: t}.reach(ctx, handshakeTimeout)
	if err == nil {
		conn.Close()
	}
	return err
}

// Follow lets a launcher on host a, whose ranks 2 and 3 are on host b, read what its agent says. It returns
// how often each rank has ended, and the hosts that were lost.
func Follow(conn net.Conn, log func(rank int) string) (ends [4]int, lost []*HostError) {
	where := placeOnHosts([]RosterHost{{Name: "a", Slots: 2}, {Name: "b", Slots: 2}}, 4, 0)
	f := newRemoteFleet(where, conn, func(e event) {
		if e.host != nil {
			lost = append(lost, e.host)
		} else if e.exit != nil {
			ends[e.rank]++
		}
	}, log)
	f.run = "x"
	f.start(nil)
	f.wait()
	return ends, lost
}
