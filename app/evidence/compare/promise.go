package compare

import (
	"fmt"
	"maps"
	"slices"

	"lockstep/app/record"
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

// Agreement says how the parameters of an exact line compare with those of the other exact lines.
func (g *Group) Agreement(l *Line) string {
	alike, exact := g.sharing()
	switch {
	case !g.shares(l):
		return "other work"
	case len(g.Hashes) > 1:
		return "≠ rows differ"
	case alike < exact:
		return "= rows of equal work"
	}
	return "= all rows"
}

func parametersAgree(_ *record.Results, c *Comparison) []string {
	var out []string
	for i := range c.Groups {
		g := &c.Groups[i]
		alike, exact := g.sharing()
		if len(g.Hashes) != 1 || alike < 2 {
			continue
		}
		which := "that train one model"
		if alike < exact {
			which = "that do the same work" // a setting of the others is another
		}
		rows := fmt.Sprintf("all %d rows", alike)
		if alike == 2 {
			rows = "both rows"
		}
		hash, each, of := g.Hashes[0], "", ""
		for _, seed := range slices.Sorted(maps.Keys(g.promised)) {
			if len(g.promised) > 1 && slices.Contains(g.promised[seed], hash) {
				each, of = " for each seed", fmt.Sprintf(" with seed %d", seed)
			}
		}
		out = append(out, fmt.Sprintf("%s: %s %s end with the same parameters%s, bit for bit "+
			"(SHA-256 %s…%s).", c.Title(g), rows, which, each, hash[:min(12, len(hash))], of))
	}
	return out
}
