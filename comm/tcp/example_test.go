package tcp_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"lockstep/comm"
	"lockstep/comm/tcp"
)

// Three ranks listen, connect and add their vectors. They are goroutines here; processes tell each other
// their addresses when they join the run.
func Example() {
	listeners, addresses := make([]*tcp.Listener, 3), make([]string, 3)
	for rank := range listeners {
		l, err := tcp.Listen("127.0.0.1:0")
		if err != nil {
			log.Fatal(err)
		}
		defer l.Close()
		listeners[rank], addresses[rank] = l, l.Addr()
	}
	var all sync.WaitGroup
	for rank, l := range listeners {
		all.Go(func() {
			mesh, err := tcp.Connect(context.Background(), l,
				tcp.Config{Rank: rank, Addrs: addresses, Token: []byte("a secret of 16 bytes or more")})
			if err != nil {
				log.Fatal(err)
			}
			g, err := comm.NewGroup(mesh, comm.Config{})
			if err != nil {
				log.Fatal(err)
			}
			defer g.Close()
			v := []float32{1, float32(rank)}
			if err := g.AllReduce(v, [][]float32{v}); err != nil {
				log.Fatal(err)
			}
			if rank == 0 {
				fmt.Println(v)
			}
			g.Barrier()
		})
	}
	all.Wait()
	// Output: [3 3]
}
