package commtest

import (
	"fmt"
	"testing"

	"lockstep/comm"
	"lockstep/shard"
)

// testPlans checks that sums keep their bits when shards move between collectives, also to more or
// fewer shards, and that a plan that does not fit is refused.
func testPlans(t *testing.T, connect Connect) {
	const elems = 1009
	for _, lengths := range [][][]int{
		{{3, 2}, {1, 4}, {4, 1}, {6, 3}},
		{{2, 2, 1}, {1, 1, 3}, {7, 1, 2}, {1, 1, 1}},
	} {
		workers := len(lengths[0])
		each(t, connect, Cut(t, workers, workers), comm.Config{}, func(g *comm.Group) error {
			if err := g.SetPlan(Cut(t, workers+1, workers+1)); err == nil {
				return fmt.Errorf("a plan for %d workers was accepted by %d", workers+1, workers)
			}
			for _, n := range lengths {
				plan, err := shard.PlanOf(n)
				if err == nil {
					err = g.SetPlan(plan)
				}
				if err != nil {
					return err
				}
				data := NewContributions(plan.Shards(), elems)
				for _, name := range exact() {
					if err := oneAllReduce(g, name, data, data.Tree(0, plan.Shards())); err != nil {
						return fmt.Errorf("%s by %v: %w", name, n, err)
					}
				}
			}
			return nil
		})
	}
}
