package gradsync_test

import (
	"fmt"
	"log"
	"sync"

	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/shard"
)

// Two workers (goroutines here) sum the gradients of two parameters. Backward completes the last
// parameter first, and its all-reduce overlaps with the rest of backward.
func ExampleNew() {
	plan, err := shard.Cut(2, 2)
	if err != nil {
		log.Fatal(err)
	}
	var all sync.WaitGroup
	for _, mesh := range comm.NewLocal(2) {
		all.Go(func() {
			g, err := comm.NewGroup(mesh, comm.Config{Plan: plan})
			if err != nil {
				log.Fatal(err)
			}
			defer g.Close()
			gradient := []float32{1, 2, 3, 4}
			s, err := gradsync.New("ddp", gradsync.Config{
				Group: g, Segments: []gradsync.Segment{{Offset: 2, Len: 2}, {Offset: 0, Len: 2}},
				Order: []int{1, 0}, Pieces: [][]float32{gradient},
			})
			if err != nil {
				log.Fatal(err)
			}
			defer s.Close()
			losses := make([]float32, 2)
			losses[g.Rank()] = float32(g.Rank()) + 0.5
			s.Begin(0)
			s.Ready(1)
			s.GatherRows(losses)
			s.Ready(0)
			if err := s.Wait(); err != nil {
				log.Fatal(err)
			}
			if g.Rank() == 0 {
				fmt.Println(gradient, losses)
			}
		})
	}
	all.Wait()
	// Output: [2 4 6 8] [0.5 1.5]
}
