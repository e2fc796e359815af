package shm_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"lockstep/comm"
	"lockstep/comm/shm"
)

// Two ranks broadcast over one segment. They are goroutines here; processes inherit the file.
func Example() {
	segment, err := shm.Create(2)
	if err != nil {
		log.Fatal(err)
	}
	defer segment.Close()
	var all sync.WaitGroup
	for rank := range 2 {
		all.Go(func() {
			mesh, err := shm.Connect(context.Background(), segment, rank)
			if err != nil {
				log.Fatal(err)
			}
			g, err := comm.NewGroup(mesh, comm.Config{})
			if err != nil {
				log.Fatal(err)
			}
			defer g.Close()
			text := []byte("hello from 0")
			if rank == 1 {
				clear(text)
			}
			if err := g.Broadcast(text, 0); err != nil {
				log.Fatal(err)
			}
			if rank == 1 {
				fmt.Println(string(text))
			}
			g.Barrier()
		})
	}
	all.Wait()
	// Output: hello from 0
}
