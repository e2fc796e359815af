package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Note: different collectives
//
// Two workers in different collectives each see that the other is wrong, and tell the others, who say what
// they were in themselves. The rank that is in something else than most is the culprit. If as many ranks
// are in one collective as in another, as with two workers, nobody knows which is wrong: one of those that
// differ from rank 0 is named, beside rank 0.

// strayed returns the error about the rank that was in another collective than most, or nil if no worker
// has reported that.
func (s *supervisor) strayed() *WorkerError {
	var places []place
	for rank := range s.workers {
		if f := s.workers[rank].failure; f != nil && f.In != "" {
			k := slices.IndexFunc(places, func(p place) bool { return p.name == f.In })
			if k < 0 {
				k, places = len(places), append(places, place{name: f.In})
			}
			places[k].ranks = append(places[k].ranks, rank)
		}
	}
	if len(places) == 0 {
		return nil
	}
	// The least come first; among equals, rank 0 comes last.
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(len(a.ranks)-len(b.ranks), b.ranks[0]-a.ranks[0])
	})
	e := s.describe(places[0].ranks[0])
	e.Reported, e.Status, e.Wait, e.IsLost = false, 0, nil, false
	e.In, e.Text = places[0].name, "it is in "+places[0].name
	for _, p := range slices.Backward(places[1:]) {
		e.Text += fmt.Sprintf(", %s in %s", s.names(p.ranks), p.name)
	}
	if len(places) > 1 && len(places[1].ranks) == len(places[0].ranks) {
		e.Text += "; which of them is wrong, nobody knows"
	}
	return e
}

// place is a collective and the ranks that were in it.
type place struct {
	name  string
	ranks []int
}

// maxNames is how many ranks an error lists.
const maxNames = 4

// names lists ranks.
func (s *supervisor) names(ranks []int) string {
	var all []string
	for _, rank := range ranks[:min(len(ranks), maxNames)] {
		all = append(all, s.name(rank))
	}
	text := strings.Join(all, ", ")
	if more := len(ranks) - maxNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
