package train_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lockstep/compute"
	"lockstep/gradsync"
	"lockstep/shard"
	"lockstep/train"
)

// moving returns u with shards that move at random in two steps of three, in the same way on all workers.
func moving(l *train.Loop, u train.Updater, x gradsync.Exchange) (train.Updater, error) {
	u, err := train.NewBalanced(l, u, x, func(*train.Move) {})
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(5, 6))
	train.Force(u, func(step int, now shard.Plan) shard.Plan {
		if step%3 == 0 {
			return now
		}
		lengths := make([]int, now.Workers())
		for i := range lengths {
			lengths[i] = 1
		}
		for range now.Shards() - len(lengths) {
			lengths[r.IntN(len(lengths))]++
		}
		next, err := shard.PlanOf(lengths)
		if err != nil {
			panic(err)
		}
		return next
	})
	return u, nil
}

// Shards that move in mid-run change no bit, whatever the exchange.
func TestOneHashWhileShardsMove(t *testing.T) {
	c := example(t, "lenet", 100, 37)
	c.Plan = cut(t, 7, 1)
	want := run(t, c, 1, 1, compute.Best())[0]
	for _, workers := range []int{2, 3, 4} {
		for _, strategy := range []string{"gather-scatter", "all-reduce", "ddp", "sharded", "late"} {
			got := exchangeRun(t, c, workers, 1, "moving "+strategy, "auto")
			for rank := range got {
				place := fmt.Sprintf("%s, %d workers, rank %d", strategy, workers, rank)
				compareOutcomes(t, place, got[rank], want)
			}
		}
	}
}
