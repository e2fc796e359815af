package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// strayed returns the error about the rank that is in another collective than most, or nil if no worker has
// reported that. The two that meet each see that the other is wrong, and tell the rest, who say what they
// were in. Of as many ranks in one collective as in another, as with two workers, one of those that differ
// from rank 0 is named.
func (s *supervisor) strayed() *WorkerError {
	ranks := map[string][]int{} // by collective
	for rank := range s.workers {
		if f := s.workers[rank].failure; f != nil && f.In != "" {
			ranks[f.In] = append(ranks[f.In], rank)
		}
	}
	if len(ranks) == 0 {
		return nil
	}
	in := slices.SortedFunc(maps.Keys(ranks), func(a, b string) int {
		return cmp.Or(len(ranks[a])-len(ranks[b]), ranks[b][0]-ranks[a][0])
	})
	e := s.describe(ranks[in[0]][0])
	e.Wait, e.IsLost, e.Text = nil, false, "it is in "+in[0]
	for _, other := range slices.Backward(in[1:]) {
		e.Text += ", " + s.name(ranks[other][0])
		if more := len(ranks[other]) - 1; more > 0 {
			e.Text += fmt.Sprintf(" and %d more", more)
		}
		e.Text += " in " + other
	}
	if len(in) > 1 && len(ranks[in[1]]) == len(ranks[in[0]]) {
		e.Text += "; which of them is wrong, nobody knows"
	}
	return e
}
