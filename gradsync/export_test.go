package gradsync

import "slices"

// StartOrder returns the buckets in the order in which they start.
func StartOrder(s *Late) []int { return slices.Clone(s.order) }

// SetBegun sets how many buckets had begun when backward ended, in all steps so far.
func SetBegun(s *Late, num int) {
	for i := range s.begun {
		s.begun[i] = num
	}
}
