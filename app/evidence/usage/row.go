package usage

import (
	"slices"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/strategy"
)

// Batches returns the rows of a comparison that differ in their global batch alone, by batch: of several such
// lists the longest; nil if no two rows do. Floors and rows of other programs are left out.
func Batches(c *compare.Comparison) (longest []*compare.Line) {
	like := map[record.Setting][]*compare.Line{}
	for i := range c.Groups {
		for _, l := range c.Groups[i].Lines {
			s := l.Setting
			if l.OK == 0 || s.Peer != "" || s.PerWorker > 0 || strategy.Named(s.Strategy).IsFloor {
				continue
			}
			s.Batch, s.Shards, s.Steps, s.Algorithm = 0, 0, 0, ""
			isThere := slices.ContainsFunc(like[s], func(o *compare.Line) bool {
				return o.Setting.Batch == l.Setting.Batch
			})
			if isThere {
				continue
			}
			if like[s] = append(like[s], l); len(like[s]) > max(1, len(longest)) {
				longest = like[s]
			}
		}
	}
	longest = slices.Clone(longest)
	slices.SortFunc(longest, func(a, b *compare.Line) int { return a.Setting.Batch - b.Setting.Batch })
	return longest
}
