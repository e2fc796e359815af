package compare

import (
	"cmp"
	"fmt"
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
			continue
		}
		later = max(later, d)
	}
	return first, later
}

// isSameWork reports whether the losses of a peer are ours within the limits.
func isSameWork(c record.PeerCheck) bool {
	first, later := PeerDistance(c)
	return first <= PeerFirstLoss && later <= PeerLoss
}

// otherLosses is why a row of a peer is not compared.
const otherLosses = "its losses are not those of Lockstep"

// refusePeers refuses the rows of peers whose losses are not ours, or were not compared.
func (c *Comparison) refusePeers(r *record.Results) {
	for i := range c.Groups {
		for _, l := range c.Groups[i].Lines {
			if l.Setting.Peer == "" {
				continue
			}
			if check := checkOf(r, l.Setting); check == nil || !isSameWork(*check) {
				l.Refused = otherLosses
			}
		}
	}
}

// otherWork refuses peers whose losses are not ours, and those whose losses were not compared.
func otherWork(r *record.Results, _ *Comparison) []string {
	var out []string
	for _, c := range r.Peers {
		if isSameWork(c) {
			continue
		}
		first, later := PeerDistance(c)
		out = append(out, fmt.Sprintf("%s does not train as Lockstep does: from equal weights on equal "+
			"batches of %s, batch %d, %s, its first loss is %.2g away, the others up to %.2g (relative; "+
			"%.2g and %.2g may be). Its times are those of other work.", peerName(c.Peer), c.Model, c.Batch,
			c.Format, first, later, PeerFirstLoss, PeerLoss))
	}
	for _, row := range r.Rows {
		s := row.Setting
		if s.Peer != "" && len(row.Runs) > 0 && checkOf(r, s) == nil {
			out = append(out, fmt.Sprintf("%s %s %s: its losses were not compared with ours, so nothing "+
				"shows that it does the same work.", s.Model, s.Strategy,
				strings.ReplaceAll(s.Options, "+", " ")))
		}
	}
	return out
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

// peerName words a peer.
func peerName(peer string) string {
	if peer == "pytorch" {
		return "PyTorch"
	}
	return peer
}

// sameWork says how near the losses of peers are, and how both sides ran.
func sameWork(r *record.Results, c *Comparison) []string {
	var out []string
	for _, p := range r.Peers {
		if !isSameWork(p) {
			continue
		}
		first, later := PeerDistance(p)
		out = append(out, fmt.Sprintf("%s and Lockstep train alike: %s on %s, batch %d, one worker, from "+
			"equal weights on equal batches: the first losses differ by %.1g, the %d after it by %.1g at "+
			"most (relative; %.1g and %.1g were allowed). %s: %s. Lockstep: version %s, float32, kernels "+
			"%s, as many threads in each worker as the row has, gradients in fp32, batches loaded beside "+
			"the step.%s", peerName(p.Peer), p.Model, p.Data, p.Batch, first, len(p.Ours)-1, later,
			PeerFirstLoss, PeerLoss, peerName(p.Peer), p.Settings, r.Version, kernelsOf(c), cutFiner(c)))
	}
	return out
}

// cutFiner says that losses of rows differ from a peer's, where ours cut a batch into more shards than they
// have workers; "" if none do.
func cutFiner(c *Comparison) string {
	_, any := c.where(func(l *Line) bool {
		return l.Setting.Peer == "" && !l.strategy().IsFloor && l.Setting.Shards > l.Setting.Workers
	})
	if !any {
		return ""
	}
	return " Where our rows cut a batch into more shards than they have workers, batch norm sees a shard, " +
		"and the other program's the batch of a worker: their losses in the tables differ."
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

// repeatedBatches says from which step on rows of another program train on other batches than ours.
func repeatedBatches(_ *record.Results, c *Comparison) []string {
	var out []string
	var seen []int
	c.lines(func(_ *Group, l *Line) {
		n := l.Repeats
		if n == 0 || slices.Contains(seen, n) {
			return
		}
		seen = append(seen, n)
		names, _ := c.where(func(l *Line) bool { return l.Repeats == n })
		out = append(out, fmt.Sprintf("Other data: from step %d on, these rows train on their first %d "+
			"batches again, because another program has its batches in memory: %s. A step is the same work, "+
			"and its time is compared. Losses are not those of the same samples from there on, so none is "+
			"shown.", n+1, n, names))
	})
	return out
}

// kernelsOf returns the kernel path of the first line that has one.
func kernelsOf(c *Comparison) string {
	found := "unknown"
	c.lines(func(_ *Group, l *Line) {
		if found == "unknown" && l.ISA != "" {
			found = l.ISA
		}
	})
	return found
}

// AgainstPeers relates each row to the same one of a peer: to the faster of its ways to run, which is A of a
// pair. The tests are corrected for the number of rows.
func (g *Group) AgainstPeers() []Pair {
	var pairs []Pair
	var ps []float64
	for _, l := range g.Lines {
		best := g.peerOf(l)
		if best == nil {
			continue
		}
		if r := pairedRatio(best, l); r.Known() {
			pairs, ps = append(pairs, Pair{A: best, B: l, Ratio: r}), append(ps, r.PairedP())
		}
	}
	for i, p := range stat.Holm(ps) {
		pairs[i].P = p
	}
	return pairs
}

// FastestAgainstPeer relates the fastest of our rows, the first of the answer, to the row of a peer with the
// shortest step, whatever its strategy, workers and threads: that one is A of the pair. The tests against all
// rows of the peer are corrected for their number. It returns false where one of the two is missing.
func (g *Group) FastestAgainstPeer() (Pair, bool) {
	ranked := g.standing().ranked
	if len(ranked) == 0 {
		return Pair{}, false
	}
	var pairs []Pair
	var ps []float64
	fastest := -1
	for _, l := range g.Lines {
		isRival := l.Setting.Peer != "" && l.OK > 0 && !l.Disturbed && l.Refused == "" && !l.Uneven &&
			stat.IsFinite(l.Step.Median) && difference(l, ranked[0]) == ""
		if !isRival {
			continue
		}
		r := pairedRatio(l, ranked[0])
		pairs, ps = append(pairs, Pair{A: l, B: ranked[0], Ratio: r}), append(ps, r.PairedP())
		if fastest < 0 || l.Step.Median < pairs[fastest].A.Step.Median {
			fastest = len(pairs) - 1
		}
	}
	if fastest < 0 || !pairs[fastest].Ratio.Known() {
		return Pair{}, false
	}
	pairs[fastest].P = stat.Holm(ps)[fastest]
	return pairs[fastest], true
}

// BesidePeer words what [Group.FastestAgainstPeer] finds.
func (p Pair) BesidePeer() string {
	name, doubt := peerName(p.A.Setting.Peer), p.Doubt()
	if doubt == "" {
		return fmt.Sprintf("%s is %s as fast as %s; no row of %s has a shorter step.", p.B.Label,
			times(p.Ratio), p.A.Label, name)
	}
	text := fmt.Sprintf("The rounds do not tell %s from %s, the row of %s with the shortest step: %s its "+
		"speed", p.B.Label, p.A.Label, name, times(p.Ratio))
	if doubt != notApart {
		text += ", which " + doubt
	}
	return text + "."
}

// peers words what [Group.FastestAgainstPeer] and [Group.AgainstPeers] find.
func (g *Group) peers() []string {
	var out []string
	each := g.AgainstPeers()
	if p, isThere := g.FastestAgainstPeer(); isThere && (len(each) != 1 || each[0].A != p.A) {
		out = append(out, p.BesidePeer())
	}
	for _, pair := range each {
		text := fmt.Sprintf("%s takes %s a step, %s %s: %s the speed of PyTorch, taken round by round",
			pair.B.Label, ms(pair.B.Step.Median), pair.A.Label, ms(pair.A.Step.Median),
			times(pair.Ratio))
		if doubt := pair.Doubt(); doubt != "" {
			text += ", which " + doubt
		}
		out = append(out, text+".")
	}
	return out
}

// notApart is the doubt where nothing more is known than that the rounds do not agree.
const notApart = "is not told apart"

// Doubt says why a ratio to a peer is no finding; "" if it is one.
func (p Pair) Doubt() string {
	switch {
	case !p.isTest():
		return fmt.Sprintf("decides nothing: it has %d of the %d rounds that this takes",
			len(p.Ratio.Values), EnoughRounds)
	case p.isClose():
		return "is " + TooClose()
	case !p.IsDecided():
		return notApart
	}
	return ""
}

// peerOf returns the fastest row of a peer that does the work of ours; nil if there is none.
func (g *Group) peerOf(ours *Line) *Line {
	if ours.Setting.Peer != "" || ours.OK == 0 || ours.Disturbed || ours.Refused != "" ||
		!stat.IsFinite(ours.Step.Median) {
		return nil
	}
	var best *Line
	for _, l := range g.Lines {
		if l.isPeerOf(ours) && (best == nil || l.Step.Median < best.Step.Median) {
			best = l
		}
	}
	return best
}

// isPeerOf reports whether l is the row of a peer that does the work of ours.
func (l *Line) isPeerOf(ours *Line) bool {
	a, b := l.Setting, ours.Setting
	return a.Peer != "" && l.OK > 0 && !l.Disturbed && l.Refused == "" && b.Options == "" && b.Wire == "" &&
		a.Strategy == b.Strategy && a.Workers == b.Workers && a.Threads == b.Threads
}

// program names what ran the line: "" for Lockstep, else a peer with its own options.
func (l *Line) program() string {
	if l.Setting.Peer == "" {
		return ""
	}
	return l.Setting.Peer + " " + l.Setting.Options
}
