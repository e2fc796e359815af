package gradsync

import "slices"

// Turns returns the order in which the buckets of a late exchange start.
func Turns(s Strategy) []int { return slices.Clone(s.(*exchange).turns) }

// SetBegun makes the steps so far look as if so many buckets had begun during backward.
func SetBegun(s Strategy, num int) {
	for i := range s.(*exchange).late.begun {
		s.(*exchange).late.begun[i] = num
	}
}
