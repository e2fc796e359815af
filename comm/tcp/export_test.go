package tcp

import "net"

// The two sides of a handshake, for fuzzing.
var (
	Greet   = greet
	Welcome = welcome
)

// Keep returns which of two connections a stream keeps whose handshakes ended in this order, by their numbers
// among those accepted.
func Keep(first, second net.Conn, firstNumber, secondNumber int) net.Conn {
	j := &joining{ends: [][]end{make([]end, 1)}, missing: 1, cancel: func() {}}
	j.add(0, 0, end{conn: first, number: firstNumber})
	j.add(0, 0, end{conn: second, number: secondNumber})
	if j.missing != 0 {
		panic("tcp: a stream with a connection is missing")
	}
	return j.ends[0][0].conn
}
