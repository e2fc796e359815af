package compare

import (
	"slices"
)

// promised is what exact lines of equal work ended with: their distinct parameter hashes by seed, in order of
// appearance. One hash for each seed is what they promise.
type promised map[uint64][]string

// promise finds the hashes of the exact lines, of the work and the seed that have most. Lines of other work
// promise no common bits.
func (g *Group) promise() {
	type same struct {
		shards int
		lr     float64
		work   work
		what   string
	}
	known := map[same]promised{}
	g.Hashes, g.promised = nil, nil
	for _, l := range g.Lines {
		of := same{l.Setting.Shards, l.Setting.LR, l.work, l.computed.key()}
		if known[of] == nil {
			known[of] = promised{}
		}
		for _, run := range l.runs {
			seed := l.seedOf(run)
			hash, all := l.hashes[seed], known[of]
			if l.Exact() && hash != "" && !slices.Contains(all[seed], hash) {
				all[seed] = append(all[seed], hash)
			}
			if len(all[seed]) > len(g.Hashes) {
				g.Hashes, g.promised = all[seed], all
			}
		}
	}
}

// shares reports whether a line ended with the parameters of the exact lines of [Group.Hashes], for every
// seed that both have.
func (g *Group) shares(l *Line) bool {
	isShared := false
	for seed, hash := range l.hashes {
		theirs := g.promised[seed]
		if hash == "" || theirs == nil {
			continue
		}
		if !slices.Contains(theirs, hash) {
			return false
		}
		isShared = true
	}
	return isShared
}

// sharing counts the exact lines whose repeated runs agree, and those of them that share their parameters.
func (g *Group) sharing() (alike, exact int) {
	for _, l := range g.Lines {
		if l.OK == 0 || !l.Exact() || l.Disagree {
			continue
		}
		exact++
		if g.shares(l) {
			alike++
		}
	}
	return alike, exact
}

// Agreement is how the parameters of an exact line compare with those of the other exact lines.
type Agreement uint8

// The agreements.
const (
	OfOtherWork Agreement = iota // no other line promises the same bits
	RowsDiffer                   // lines of equal work ended with different parameters
	EqualWork                    // it shares those of all lines of equal work; others do other work
	AllRows                      // it shares those of all exact lines
)

// Agreement compares the parameters of an exact line with those of the other exact lines.
func (g *Group) Agreement(l *Line) Agreement {
	alike, exact := g.sharing()
	switch {
	case !g.shares(l):
		return OfOtherWork
	case len(g.Hashes) > 1:
		return RowsDiffer
	case alike < exact:
		return EqualWork
	}
	return AllRows
}
