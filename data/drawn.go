package data

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"lockstep/internal/spelling"
	"lockstep/random"
)

// drawn is the state of a Sampler by class.
type drawn struct {
	members [][]int32 // the samples of each class
	quotas  []int     // how many of it an epoch has
	turns   []int32   // of each place of the epoch: how often its sample was drawn before
	scratch []int32
}

// ByClass returns a sampler that draws samples so that classes are in proportion to shares, [classes], in
// place of each sample once. An epoch has as many samples as before: share[c]/sum of them, rounded by the
// greatest remainders, are of class c, of those that have samples, and all are mixed.
//
// The samples of a class take turns: they are drawn in a random order, then all again in another one, and so
// on from epoch to epoch. So after any number of epochs each was drawn as often as every other of its class,
// or once more or less. The order is a function of seed, epoch, labels and shares. Its Order must not be
// called concurrently. It panics unless there is a label for each sample, and a share for each class.
func (s Sampler) ByClass(labels []int32, shares []float32) Sampler {
	if len(labels) != s.samples {
		panic(fmt.Sprintf("data: sampler: %d labels, want %d", len(labels), s.samples))
	}
	d := &drawn{members: make([][]int32, len(shares)), turns: make([]int32, s.samples)}
	counts := make([]int, len(shares))
	for i, c := range labels {
		d.members[c] = append(d.members[c], int32(i))
		counts[c]++
	}
	d.quotas, d.scratch = quotas(counts, shares), make([]int32, slices.Max(counts))
	s.drawn = d
	return s
}

// quotas divides as many samples as there are among the classes that have some, in proportion to shares.
func quotas(counts []int, shares []float32) []int {
	n := 0
	for _, count := range counts {
		n += count
	}
	sum, left := 0.0, n
	var taking []int
	for c, share := range shares {
		if counts[c] > 0 && share > 0 {
			sum, taking = sum+float64(share), append(taking, c)
		}
	}
	all, rests := make([]int, len(shares)), make([]float64, len(shares))
	for _, c := range taking {
		exact := float64(float64(n) * (float64(shares[c]) / sum))
		all[c] = int(math.Floor(exact))
		rests[c], left = exact-math.Floor(exact), left-all[c]
	}
	slices.SortStableFunc(taking, func(a, b int) int { return cmp.Compare(rests[b], rests[a]) })
	for i := 0; left > 0 && len(taking) > 0; i, left = i+1, left-1 {
		all[taking[i%len(taking)]]++
	}
	return all
}

// order fills order with the samples of an epoch, and turns.
func (d *drawn) order(order []int32, seed uint64, epoch int) {
	at := 0
	for c, n := range d.quotas {
		d.take(order[at:at+n], d.turns[at:at+n], random.Derive(seed, purposeTurns, uint64(c)), epoch*n,
			d.members[c])
		at += n
	}
	r := random.Derive(seed, purposeOrder, uint64(epoch))
	for i := len(order) - 1; i > 0; i-- {
		j := r.Intn(uint64(i), i+1)
		order[i], order[j] = order[j], order[i]
		d.turns[i], d.turns[j] = d.turns[j], d.turns[i]
	}
}

// take fills order with the members that are drawn after the first so many, and turns with the rounds that
// these draws are of.
func (d *drawn) take(order, turns []int32, of random.Stream, first int, members []int32) {
	for i := range order {
		round, place := (first+i)/len(members), (first+i)%len(members)
		if i == 0 || place == 0 {
			random.Derive(uint64(of), uint64(round)).Perm(d.scratch[:len(members)])
		}
		order[i], turns[i] = members[d.scratch[place]], int32(round)
	}
}

// WithClassShares returns the set whose classes are drawn in these proportions, [classes], see
// [Sampler.ByClass]. It shares the samples of s, which must have labels. A class that has a share above 0 and
// samples, but would have no place in an epoch, is a *FormatError, as is a set with no such class.
func (s *Set) WithClassShares(shares []float32) (*Set, error) {
	drawn, counts, places := *s, s.Counts(), 0
	drawn.ClassShares = shares
	for c, n := range quotas(counts, shares) {
		if n == 0 && shares[c] > 0 && counts[c] > 0 {
			return nil, &FormatError{File: s.Name, Offset: -1, Next: "give it a greater share, or 0",
				Reason: fmt.Sprintf("class %.80q would have no place among the %s of an epoch", s.Classes[c],
					spelling.Count(s.Len(), "sample"))}
		}
		places += n
	}
	if places == 0 {
		return nil, &FormatError{File: s.Name, Offset: -1, Reason: "no class with samples has a share"}
	}
	return &drawn, nil
}

// Coverage returns the multiset hash of the samples of an epoch in the order of a seed: that of all of them,
// each once, or of those drawn by class.
func (s *Set) Coverage(seed uint64, epoch int) uint64 {
	if s.ClassShares == nil {
		return Coverage(s.Len())
	}
	order, sum := make([]int32, s.Len()), uint64(0)
	NewSampler(s.Len(), 1, 1, seed).ByClass(s.Labels, s.ClassShares).Order(order, epoch)
	for _, index := range order {
		sum += sampleHash(index)
	}
	return sum
}
