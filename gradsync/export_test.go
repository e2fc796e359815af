package gradsync

import "slices"

// StartOrder returns the buckets in the order in which they start.
func StartOrder(s *Late) []int { return slices.Clone(s.order) }

// SetBegun makes a late exchange believe that so many buckets had begun when backward ended.
func SetBegun(s *Late, num int) {
	for i := range s.begun {
		s.begun[i] = num
	}
}
