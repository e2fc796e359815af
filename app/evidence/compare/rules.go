package compare

import (
	"lockstep/app/evidence/finding"
	"lockstep/app/record"
)

// rule finds one thing. Rules do not depend on one another. What a rule returns has the rows and the values;
// name and severity are those of the rule.
type rule struct {
	name     string
	severity finding.Severity
	find     func(r *record.Results, c *Comparison) []finding.Finding
}

// rules lists everything that the package finds in a benchmark as a whole, the gravest of each severity
// first.
func rules() []rule {
	const refused, caution, fact = finding.Refused, finding.Caution, finding.Fact
	return []rule{
		{"seal", refused, changed},
		{"incomplete", refused, incomplete},
		{"failed", refused, failed},
		{"unequal work", refused, unequalWork},
		{"unequal runs", refused, ofRows(func(l *Line) bool { return l.Uneven })},
		{"losses disagree", refused, ofRows((*Line).hasParted)},
		{"another program", refused, otherWork},
		{"diverged", refused, ofRows((*Line).hasDiverged)},

		{"taken cores", caution, takenCores((*Line).isDisturbed)},
		{"contention", caution, contention},
		{"taken runs", caution, takenCores((*Line).isPartlyDisturbed)},
		{"budget", caution, cutShort},
		{"few rounds", caution, ofRows((*Line).isShortOfRounds)},
		{"copies differ", caution, copiesDiffer},
		{"parameters differ", caution, parametersDiffer},
		{"parameters change", caution, ofRows((*Line).isUnrepeatable)},
		{"another result", caution, ofRows((*Line).isLossy)},
		{"mixed precision", caution, ofRows(func(l *Line) bool { return l.IsMixed })},
		{"loss grew", caution, lossGrew},
		{"not learned", caution, ofRows((*Line).IsGuessing)},
		{"not encrypted", caution, ofRows((*Line).isInTheClear)},
		{"resumed elsewhere", caution, otherSitting},

		{"parameters agree", fact, parametersAgree},
		{"chosen", fact, choices},
		{"weak scaling", fact, weakScaling},
		{"told apart", fact, toldApart},
		{"same work", fact, sameWork},
		{"other batches", fact, repeatedBatches},
		{"repeated", fact, repeated},
		{"generated data", fact, generated},
		{"no exchange", fact, ofRows((*Line).isFloor)},
		{"ring", fact, ofRows(func(l *Line) bool { return l.isRing() && !l.isFloor() })},
		{"one machine", fact, oneMachine},
		{"skipped", fact, skipped},
	}
}

// find applies all rules.
func (c *Comparison) find(r *record.Results) []finding.Finding {
	var out []finding.Finding
	for _, rule := range rules() {
		for _, f := range rule.find(r, c) {
			f.Rule, f.Severity = rule.name, rule.severity
			out = append(out, f)
		}
	}
	return out
}

// lines calls f for every line that has a successful run.
func (c *Comparison) lines(f func(g *Group, l *Line)) {
	for i := range c.Groups {
		for _, l := range c.Groups[i].Lines {
			if l.OK > 0 {
				f(&c.Groups[i], l)
			}
		}
	}
}

// ofRows is a rule about the lines that satisfy is.
func ofRows(is func(*Line) bool) func(*record.Results, *Comparison) []finding.Finding {
	return func(_ *record.Results, c *Comparison) []finding.Finding { return c.about(is, nil) }
}

// about returns a finding about the lines that satisfy is; nil if none does.
func (c *Comparison) about(is func(*Line) bool, values finding.Values) []finding.Finding {
	f, all := finding.Finding{Values: values}, 0
	c.lines(func(g *Group, l *Line) {
		all++
		if is(l) {
			f.Rows = append(f.Rows, c.name(g, l))
		}
	})
	if f.Rows == nil {
		return nil
	}
	f.IsAll = len(f.Rows) == all && all > 1
	return []finding.Finding{f}
}

// ofEach returns a finding about each line for which values returns some.
func (c *Comparison) ofEach(values func(g *Group, l *Line) finding.Values) (out []finding.Finding) {
	c.lines(func(g *Group, l *Line) {
		if v := values(g, l); v != nil {
			out = append(out, finding.Finding{Rows: []string{c.name(g, l)}, Values: v})
		}
	})
	return out
}

// found is a finding about no row in particular, if it holds.
func found(holds bool, values finding.Values) []finding.Finding {
	if !holds {
		return nil
	}
	return []finding.Finding{{Values: values}}
}

// most returns the line with the greatest value of those that satisfy is; nil if none does.
func (c *Comparison) most(is func(*Line) bool, value func(*Line) float64) (most *Line) {
	c.lines(func(_ *Group, l *Line) {
		if is(l) && (most == nil || value(l) > value(most)) {
			most = l
		}
	})
	return most
}

// name is the line's label, with its group where there are several.
func (c *Comparison) name(g *Group, l *Line) string {
	if len(c.Groups) == 1 {
		return l.Label
	}
	return c.Title(g) + " " + l.Label
}

// isAnyLine reports whether a line with a successful run satisfies is.
func (c *Comparison) isAnyLine(is func(*Line) bool) bool { return c.about(is, nil) != nil }

// Rules returns the names of the rules.
func Rules() []string {
	var names []string
	for _, rule := range rules() {
		names = append(names, rule.name)
	}
	return names
}
