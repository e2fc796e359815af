package compare

import (
	"cmp"
	"lockstep/app/evidence/finding"
	"lockstep/app/evidence/stat"
	"math"
	"slices"
	"strings"

	"lockstep/app/record"
)

// Limits of the difference between losses of two programs that do the same work. Both round in float32, each
// in its own order: the first loss shows that weights, samples and network are the same; the others, that
// gradients and updates are, while rounding grows with every step.
const (
	PeerFirstLoss = 1e-4 // relative, of the first step
	PeerLoss      = 0.05 // relative, of those after it
)

// PeerDistance returns the largest relative difference of the first losses, and that of the others. Both are
// infinite if the lists are empty or of different lengths, or hold no numbers.
func PeerDistance(c record.PeerCheck) (first, later float64) {
	if len(c.Ours) == 0 || len(c.Ours) != len(c.Theirs) {
		return math.Inf(1), math.Inf(1)
	}
	for i, ours := range c.Ours {
		d := math.Abs(c.Theirs[i]-ours) / math.Abs(ours)
		if !stat.IsFinite(d) {
			d = math.Inf(1)
		}
		if i == 0 {
			first = d
		} else {
			later = max(later, d)
		}
	}
	return first, later
}

// isSameWork reports whether the losses of a peer are ours within the limits.
func isSameWork(c record.PeerCheck) bool {
	first, later := PeerDistance(c)
	return first <= PeerFirstLoss && later <= PeerLoss
}

// otherLosses is the name of how the work of a peer differs whose losses are not those of Lockstep.
const otherLosses = "losses"

// refusePeers refuses the rows of peers whose losses are not ours, or were not compared.
func (c *Comparison) refusePeers(r *record.Results) {
	for i := range c.Groups {
		for _, l := range c.Groups[i].Lines {
			if l.Setting.Peer == "" {
				continue
			}
			if check := checkOf(r, l.Setting); check == nil || !isSameWork(*check) {
				l.Refused = []Difference{{Name: otherLosses}}
			}
		}
	}
}

// otherWork finds peers whose losses are not ours, and rows of peers whose losses were not compared.
func otherWork(r *record.Results, c *Comparison) []finding.Finding {
	return append(peersOf(r, false), c.about(func(l *Line) bool {
		return l.Setting.Peer != "" && checkOf(r, l.Setting) == nil
	}, nil)...)
}

// checkOf returns the comparison of losses for a row of a peer; nil if there is none.
func checkOf(r *record.Results, s record.Setting) *record.PeerCheck {
	for i := range r.Peers {
		c := &r.Peers[i]
		isOf := c.Model == s.Model && c.Data == s.Data && c.Batch == s.Batch
		if isOf && s.Options == strings.TrimSuffix(c.Peer+"+"+c.Format, "+") {
			return c
		}
	}
	return nil
}

// sameWork tells how near the losses of peers are.
func sameWork(r *record.Results, _ *Comparison) []finding.Finding { return peersOf(r, true) }

// peersOf tells how near the losses of the peers are that do our work, or of those that do not.
func peersOf(r *record.Results, isSame bool) (out []finding.Finding) {
	for _, p := range r.Peers {
		first, later := PeerDistance(p)
		out = append(out, found(isSameWork(p) == isSame, finding.Values{"check": p, "first": first,
			"later": later})...)
	}
	return out
}

// earlierBatches is how many batches a peer repeats in results that do not tell.
const earlierBatches = 8

// repeatsOf returns after how many steps a run of another program trains on its first batches again; 0: after
// none, its batches are those of Lockstep.
func (l *Line) repeatsOf(r *record.Run) int {
	n := cmp.Or(r.Batches, earlierBatches)
	if l.Setting.Peer == "" || n >= r.Steps {
		return 0
	}
	return n
}

// SharedLoss returns the losses of the steps whose batches all rows have.
func (l *Line) SharedLoss() []float64 {
	if l.Repeats == 0 {
		return l.Loss
	}
	return l.Loss[:min(l.Repeats, len(l.Loss))]
}

// repeatedBatches names rows of another program that train on other batches than ours from a step on.
func repeatedBatches(_ *record.Results, c *Comparison) (out []finding.Finding) {
	var seen []int
	c.lines(func(_ *Group, l *Line) {
		n := l.Repeats
		if n == 0 || slices.Contains(seen, n) {
			return
		}
		seen = append(seen, n)
		out = append(out, c.about(func(l *Line) bool { return l.Repeats == n },
			finding.Values{"batches": n})...)
	})
	return out
}

// peers returns the lines of other programs that may be compared.
func (g *Group) peers() []*Line {
	return slices.DeleteFunc(slices.Clone(g.Lines), func(l *Line) bool {
		return l.Setting.Peer == "" || l.Refused != nil || !l.isTimed()
	})
}

// AgainstPeers relates each rival to the same row of a peer: to the faster of its ways to run, which is A of
// a pair.
func (g *Group) AgainstPeers() (pairs []Pair) {
	for _, l := range g.Rivals {
		p, isThere := g.againstFastest(l, func(b record.Setting) bool {
			a := l.Setting
			return a.Options == "" && a.Wire == "" && a.Strategy == b.Strategy && a.Workers == b.Workers &&
				a.Threads == b.Threads
		})
		if isThere {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// FastestAgainstPeer relates the fastest of our rows, the first of the answer, to the row of a peer with the
// shortest step, whatever its strategy, workers and threads: that one is A of the pair. It returns false
// where one of the two is missing.
func (g *Group) FastestAgainstPeer() (Pair, bool) {
	if len(g.Rivals) == 0 {
		return Pair{}, false
	}
	return g.againstFastest(g.ranked(g.Rivals)[0], func(record.Setting) bool { return true })
}

// againstFastest relates one of our rows to the fastest of a peer that satisfies is and does its work.
func (g *Group) againstFastest(ours *Line, is func(record.Setting) bool) (Pair, bool) {
	var best *Line
	for _, l := range g.peers() {
		isRival := is(l.Setting) && differences(l, ours) == nil
		if isRival && (best == nil || l.Step.Median < best.Step.Median) {
			best = l
		}
	}
	if best == nil {
		return Pair{}, false
	}
	p := g.Pair(best, ours)
	return p, p.Known()
}

// program names what ran the line: "" for Lockstep, else a peer with its own options.
func (l *Line) program() string {
	if l.Setting.Peer == "" {
		return ""
	}
	return l.Setting.Peer + " " + l.Setting.Options
}
