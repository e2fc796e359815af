package compare

import (
	"fmt"
	"maps"
	"slices"

	"lockstep/app/evidence/finding"
	"lockstep/app/record"
	"lockstep/internal/spelling"
)

func parametersAgree(_ *record.Results, c *Comparison) (out []finding.Finding) {
	for i := range c.Groups {
		g := &c.Groups[i]
		alike, exact := g.sharing()
		if len(g.Hashes) != 1 || alike < 2 {
			continue
		}
		seeds := slices.Sorted(maps.Keys(g.promised))
		out = append(out, found(true, finding.Values{"group": c.Title(g), "rows": alike,
			"all": alike == exact, "sha256": g.Hashes[0], "seeds": len(seeds)})...)
	}
	return out
}

// choices tells what strategy auto chose in the runs of a row.
func choices(_ *record.Results, c *Comparison) []finding.Finding {
	return c.ofEach(func(_ *Group, l *Line) finding.Values {
		runs := map[string]int{}
		for _, run := range l.runs {
			if run.Chosen != "" {
				runs[run.Chosen]++
			}
		}
		if len(runs) == 0 {
			return nil
		}
		return finding.Values{"runs": runs}
	})
}

// weakScaling relates rows whose batch grows with the workers to a worker alone: how much more they do in the
// same time when each has as many samples as one has alone. That is another question than how much faster
// they do the same work, so it gets no speed-up.
func weakScaling(_ *record.Results, c *Comparison) []finding.Finding {
	return c.ofEach(func(g *Group, l *Line) finding.Values {
		alone := c.alone(g, l)
		if alone == nil || l.Disturbed || alone.Disturbed {
			return nil
		}
		rate := g.Pair(alone, l).Scaled(float64(l.Setting.Workers))
		if !rate.Known() {
			return nil
		}
		return finding.Values{"rate": rate, "alone": alone.Label,
			"each": finding.Share(rate.Median / float64(l.Setting.Workers))}
	})
}

// alone returns the single worker of the same program with as many samples and threads as each worker of l
// has, in the group of its own batch; nil if there is none.
func (c *Comparison) alone(g *Group, l *Line) *Line {
	if g.PerWorker == 0 || l.Setting.Workers == 1 {
		return nil
	}
	for i := range c.Groups {
		o := &c.Groups[i]
		if o.Model != g.Model || o.Data != g.Data || o.PerWorker != g.PerWorker ||
			o.Condition != g.Condition {
			continue
		}
		for _, other := range o.Lines {
			s := other.Setting
			isSame := s.Threads == l.Setting.Threads && s.Batch == g.PerWorker &&
				other.program() == l.program()
			if other.OK > 0 && s.Workers == 1 && isSame {
				return other
			}
		}
	}
	return nil
}

// toldApart tells how many pairs are compared.
func toldApart(_ *record.Results, c *Comparison) []finding.Finding {
	tests := 0
	for i := range c.Groups {
		tests = c.Groups[i].Noise.Tests // of all groups
	}
	return found(tests > 0, finding.Values{"pairs": tests})
}

// repeated tells which runs others stand for.
func repeated(r *record.Results, _ *Comparison) []finding.Finding {
	disturbed, failed, most := 0, 0, 0.0
	for _, row := range r.Rows {
		for _, run := range row.Replaced {
			if run.Error != "" {
				failed++
				continue
			}
			disturbed++
			most = max(most, run.Taken.Sum())
		}
	}
	return found(disturbed+failed > 0, finding.Values{"disturbed": disturbed, "failed": failed,
		"least": finding.Share(record.DisturbedLimit), "most": finding.Share(most)})
}

// skipped tells which rows were left out, by the reason.
func skipped(r *record.Results, _ *Comparison) (out []finding.Finding) {
	at := map[string]int{}
	for _, s := range r.Skipped {
		i, isKnown := at[s.Reason]
		if !isKnown {
			i, at[s.Reason] = len(out), len(out)
			out = append(out, finding.Finding{Values: finding.Values{"reason": s.Reason}})
		}
		out[i].Rows = append(out[i].Rows, fmt.Sprintf("%s %s, %s", s.Model, s.Strategy,
			spelling.Count(s.Workers, "worker")))
	}
	return out
}
