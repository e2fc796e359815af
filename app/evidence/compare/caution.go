package compare

import (
	"math"
	"slices"
	"strings"

	"lockstep/app/evidence/finding"
	"lockstep/app/evidence/stat"
	"lockstep/app/record"
)

func (l *Line) isDisturbed() bool       { return l.Disturbed }
func (l *Line) isPartlyDisturbed() bool { return !l.Disturbed && l.Measured < l.OK }
func (l *Line) isShortOfRounds() bool   { return l.Measured < stat.LeastRounds }

// takenCores is a rule about rows that others took cores from, with what they took from the worst run.
func takenCores(is func(*Line) bool) func(*record.Results, *Comparison) []finding.Finding {
	return func(_ *record.Results, c *Comparison) []finding.Finding {
		worst := c.most(is, func(l *Line) float64 { return l.Taken.Sum() })
		if worst == nil {
			return nil
		}
		return c.about(is, finding.Values{"taken": worst.Taken})
	}
}

// cutShort names the rows that have fewer runs than were planned, because the budget was over. Rows without
// any run are told as left out.
func cutShort(r *record.Results, c *Comparison) []finding.Finding {
	return c.about(func(l *Line) bool { return !r.Complete && r.CutShort && l.missing > 0 }, nil)
}

// Wide returns the rows whose rounds agree on the ratio to the baseline, or to none on their step time, by no
// better than a relative width to one side. Lines whose runs all failed or were disturbed do not count, nor
// does a baseline that others have a ratio to.
func (c *Comparison) Wide(width float64) []int {
	var rows []int
	c.lines(func(g *Group, l *Line) {
		isBase := l == g.Baseline && slices.ContainsFunc(g.Lines, func(l *Line) bool {
			return l != g.Baseline && l.Speedup.Known()
		})
		if l.Disturbed || l.Refused != nil || isBase {
			return
		}
		isNarrow := l.Interval().IsWithin(width, l.RunMedian.Median)
		if l != g.Baseline && l.Speedup.Known() {
			isNarrow = l.Speedup.IsWithin(width)
		}
		if !isNarrow {
			rows = append(rows, l.row)
		}
	})
	return rows
}

// copiesDiffer finds rows that are the same and yet told apart.
func copiesDiffer(_ *record.Results, c *Comparison) (out []finding.Finding) {
	for i := range c.Groups {
		for _, p := range c.Groups[i].Pairs() {
			if p.isCopy() && p.IsDecided() {
				out = append(out, finding.Finding{Rows: []string{c.name(&c.Groups[i], p.A), p.B.Label},
					Values: finding.Values{"ratio": p.Ratio}})
			}
		}
	}
	return out
}

func contention(r *record.Results, c *Comparison) []finding.Finding {
	isElsewhere := c.isAnyLine(func(l *Line) bool { return l.Contended && l.Setting.Cores > 0 })
	cores := r.Host.Cores
	if isElsewhere {
		cores = 0 // each host has its own
	}
	return c.about(func(l *Line) bool { return l.Contended }, finding.Values{"cores": cores})
}

func parametersDiffer(_ *record.Results, c *Comparison) (out []finding.Finding) {
	for i := range c.Groups {
		g := &c.Groups[i]
		out = append(out, found(len(g.Hashes) > 1,
			finding.Values{"group": c.Title(g), "sets": len(g.Hashes)})...)
	}
	return out
}

// isUnrepeatable reports whether repeating a run changed its parameters, which the row promises not to.
func (l *Line) isUnrepeatable() bool { return l.Disagree && l.Exact() }

// isLossy reports whether the row does equal work and reaches another result, but for mixed precision.
func (l *Line) isLossy() bool {
	return l.isOther() && !l.IsMixed && !l.isFloor() && l.Setting.Peer == ""
}

// lossGrew names the rows that diverged with a finite loss. Their steps take as long as any, so they are
// compared.
func lossGrew(_ *record.Results, c *Comparison) []finding.Finding {
	most := c.most((*Line).hasGrown, (*Line).lastLoss)
	if most == nil {
		return nil
	}
	return c.about((*Line).hasGrown, finding.Values{"first": most.Loss[0], "last": most.lastLoss(),
		"guess": math.Log(float64(most.Setting.Classes))})
}

// IsGuessing reports whether the mean of the last tenth of the losses is that of guessing, and not above it;
// NaN, the mean of none, is not.
func (l *Line) IsGuessing() bool {
	var told *record.Guess
	if len(l.runs) > 0 {
		told = l.runs[0].Guess
	}
	return told.Or(l.Setting.Classes).IsNear(l.lastLoss()) && !l.hasGrown()
}

// lastLoss returns the mean of the last tenth of the losses; NaN: there are none.
func (l *Line) lastLoss() float64 { return stat.Mean(l.Loss[len(l.Loss)-(len(l.Loss)+9)/10:]) }

// hasGrown reports whether the training diverged with losses that are still numbers.
func (l *Line) hasGrown() bool {
	last := l.lastLoss()
	return stat.IsFinite(last) && record.Loss{First: l.Loss[0], Last: last}.HasGrown(l.Setting.Classes)
}

// isInTheClear reports whether links between hosts were not encrypted.
func (l *Line) isInTheClear() bool { return l.hasEncryption(record.EncryptionNone) }

// otherSitting finds a part of the benchmark that another program or machine has measured.
func otherSitting(r *record.Results, _ *Comparison) []finding.Finding {
	for _, s := range r.Sittings {
		if first := r.Sittings[0]; !s.IsLike(first) {
			return found(true, finding.Values{"run": s.First + 1, "sitting": s, "first": first})
		}
	}
	return nil
}

func generated(_ *record.Results, c *Comparison) []finding.Finding {
	var sets []string
	c.lines(func(_ *Group, l *Line) {
		if l.Setting.Generated && !slices.Contains(sets, l.Setting.Data) {
			sets = append(sets, l.Setting.Data)
		}
	})
	return found(sets != nil, finding.Values{"data": strings.Join(sets, ", ")})
}

// oneMachine finds workers that shared a machine, or hosts that the lab made of one.
func oneMachine(r *record.Results, c *Comparison) []finding.Finding {
	isShared := c.isAnyLine(func(l *Line) bool { return l.Setting.Workers > 1 })
	isApart := c.isAnyLine(func(l *Line) bool { return l.Setting.Cores > 0 && l.Setting.Hosts > 1 })
	isLab := r.Lab != "" || c.isAnyLine(func(l *Line) bool {
		return strings.Contains(l.Setting.Condition, "in the lab")
	})
	return found(isShared && (isLab || !isApart), finding.Values{"lab": isLab})
}

// Link words the links between the workers of the line.
func (l *Line) Link() string {
	streams := 0
	for _, r := range l.runs {
		streams = max(streams, r.Streams)
	}
	for _, encryption := range []string{record.EncryptionNone, record.EncryptionTLS} {
		if l.hasEncryption(encryption) {
			return record.LinkText(l.Setting.Link, encryption, streams)
		}
	}
	return record.LinkText(l.Setting.Link, "", streams)
}

// hasEncryption reports whether a run of the line had the encryption.
func (l *Line) hasEncryption(name string) bool {
	return slices.ContainsFunc(l.runs, func(r *record.Run) bool { return r.Encryption == name })
}
