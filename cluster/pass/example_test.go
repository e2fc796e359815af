package pass_test

import (
	"fmt"
	"io"
	"log"
	"net"
	"time"

	"lockstep/cluster/pass"
)

// A launcher admits a process that has its token.
func Example() {
	authority, err := pass.NewAuthority(time.Hour)
	if err != nil {
		log.Fatal(err)
	}
	text := authority.Token().Reveal() // to the process, by a way that nobody else reads
	launcher, process := net.Pipe()
	go func() {
		token, err := pass.Parse(text)
		if err != nil {
			log.Fatal(err)
		}
		conn, err := token.Enter(process, time.Now())
		if err != nil {
			log.Fatal(err)
		}
		io.WriteString(conn, "hello")
	}()
	conn, err := authority.Admit(launcher)
	if err != nil {
		log.Fatal(err)
	}
	said := make([]byte, 5)
	io.ReadFull(conn, said)
	fmt.Printf("%s\n", said)
	// Output: hello
}
