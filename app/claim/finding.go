package claim

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"lockstep/internal/spelling"
)

// Parts of the sentences of Lockstep's own reports, with the groups that they have.
const (
	ranged   = figure + `x(?: ` + figure + `-` + figure + `(?: in \d+ rounds)?)?` // ratio, low, high
	duration = figure + ` (ms|s)`                                                 // number, unit
	asFast   = `(?: ` + ranged + ` as fast as §(\d)` + perCore + `)?`             // ranged, row, perCore
	rounds   = `\d+(?: to \d+)? rounds`                                           // none
	several  = `((?:(?:and )?§\d ?)+(?:and \d+ more)?)`                           // all of it
	perCore  = `(?: ` + figure + `% per core(?: where a core does more than in the baseline see the ` +
		`cautions)?)?`
)

// findings lists the sentences in which Lockstep's own reports say what they found, in the words of
// analysis.Answer and analysis.Findings.
func findings() []form {
	return []form{
		{"ddp has the shortest step, 3.4 ms: 1.5× (1.4–1.6) as fast as solo",
			`^§(\d) has the shortest step ` + duration + asFast + `$`, shortest},
		{"ddp had the shortest step, 3.4 ms, in one run of each row",
			`^§(\d) had the shortest step ` + duration + asFast +
				` in (?:one run of each row|the few runs that count)$`, shortestOnce},
		{"ddp had the shortest step, 3.4 ms, but 3 rounds cannot tell it from ps (3.5 ms)",
			`^§(\d) had the shortest step ` + duration + asFast + ` but ` + rounds +
				` cannot tell it from ` + several + ` (?:up to )?` + duration + `(?: --repeats \d+)?$`,
			shortestOfFew},
		{"ddp was the fastest in the median round, but 3 rounds cannot tell it from ps",
			`^§(\d) was the fastest in the median round` + asFast + ` but ` + rounds +
				` cannot tell it from ` + several + `(?: --repeats \d+)?$`, fastestOfFew},
		{"in it ddp has the shortest step, 3.4 ms",
			`^in (?:it|those that count) §(\d) has the shortest step ` + duration + asFast + `$`,
			shortestOnce},
		{"1.2× (1.1–1.3) as fast as the next, ps", `^` + ranged + ` as fast as the next §(\d)$`, next},
		{"no way of training is faster than ddp (3.4 ms a step)",
			`^no way of training is faster than §(\d)(?: ` + duration + ` a step)?$`, shortest},
		{"the nearest, ps, reaches 0.9× of its speed",
			`^the nearest §(\d) reaches ` + ranged + ` of its speed$`, runnerUp},
		{"no way of training is shown to be faster than ddp",
			`^no way of training is shown to be faster than §(\d)\b`, unbeaten},
		{"ps cannot be told from ddp",
			`^§\d[^a-z]*(?:and [^a-z]*)*(?:more )?cannot be told from §(\d)$`, tied},
		{"ddp and ps cannot be told apart",
			`^(?:the shortest steps cannot be told apart )?§\d[^a-z]*(?:and [^a-z]*)*(?:more )?` +
				`(?:cannot be told apart|medians .*)$`, tied},
		{"ddp and ps have the shortest steps",
			`^§\d[^a-z]*(?:and [^a-z]*)*(?:more )?have the shortest steps$`, tied},
		{"ddp is 1.5× (1.4–1.6) as fast as solo",
			`^§(\d) is ` + ranged + ` as fast as §(\d)` + perCore + `$`, timesWithin},
		{"on the same 2 cores, ddp is 1.5× (1.4–1.6) as fast as one process, solo",
			onTheSame + `§(\d) is ` + ranged + ` as fast as one process §(\d)$`, timesWithin},
		{"on the same 2 cores, ddp and one process, solo, are not shown to differ: 1.01× (0.97–1.05)",
			onTheSame + `§(\d) and one process §(\d) are not shown to differ ` + ranged + `$`,
			alike},
		{"ddp takes 3.4 ms a step", `^§(\d) takes ` + duration + ` a step$`, takes},
		{"the fastest row of each of 3 comparisons is below",
			`^the fastest row of each of \d+ comparisons is below\b`, summary},
		{"no other row did as much",
			`^(?:their steps are the shortest|they cannot be told apart|there is no row to rank it against|` +
				`fewer than \d+ rounds|no other row did|` +
				`none of \d+ comparisons shows one row|` +
				`the rounds (?:do not )?tell|one run of each row decides nothing|` +
				`rows are compared within each)\b`, summary},
	}
}

// onTheSame begins a sentence about rows that use as many cores. Older reports say "1 cores".
const onTheSame = `^on the same (?:core|\d+ cores) `

// verdicts are those of a report's answers, one of which stands before each.
const verdicts = `(?:certain(?: in part)?|not decided|measured once|nothing to compare)`

// answered is a sentence of a report's summary: the title of a comparison, the verdict on it, the answer.
var answered = regexp.MustCompile(`^(?:(.+) )?` + verdicts + ` (.+)$`)

// reasoned is the verdict on one of several comparisons, with the reason that the comparison's own part of
// the report has too.
var reasoned = regexp.MustCompile(`(\*\* \(` + verdicts + `): .*?\):`)

// withoutReason returns a sentence of a report's summary without the reason for its verdict.
func withoutReason(text string) string { return reasoned.ReplaceAllString(text, "$1):") }

// summary is a sentence without a name: those beside it name the rows, and are judged.
func summary(*court, []string) ruling {
	return undecided("it names no row; the sentences beside it do, and are judged")
}

// rivals returns the rows that a report ranks together with e, and the time that all of them have.
func (c *court) rivals(e *entry) ([]*entry, kind) {
	if e == nil {
		return nil, unknown
	}
	var out []*entry
	for _, o := range c.t.groupOf(e) {
		if o.isSynchronous() && !unranked.MatchString(o.text(remark)) {
			out = append(out, o)
		}
	}
	k, ok := timeOf(out...)
	if !ok || !slices.Contains(out, e) {
		return nil, unknown
	}
	return out, k
}

// unranked are the words by which a table leaves a row out of a ranking.
var unranked = regexp.MustCompile(`(?i)^not ranked`)

// noRuns is why a table of medians does not decide what only runs can.
const noRuns = "this table has no runs that could tell its rows apart"

// hasRuns reports whether an entry can be told apart from each of the others by intervals or runs.
func hasRuns(e *entry, others []*entry, k kind) bool {
	return !slices.ContainsFunc(others, func(o *entry) bool { return o != e && compare(e, o, k).isOne })
}

// isTold reports whether one entry is told apart from another after a correction for all pairs of the
// document's tables. Bonferroni's is used, which is never less strict than the report's own after Holm: what
// is told apart here was told apart there.
func (c *court) isTold(e evidence) bool {
	pairs := 0
	for _, t := range c.d.tables {
		n := len(t.measured)
		pairs += n * (n - 1) / 2
	}
	return !e.isCoarse && e.mustBeApart(e.p*float64(pairs))
}

// shortest judges that a row has the shortest step, and the figures beside it.
func shortest(c *court, m []string) ruling {
	return c.first(m, func(e *entry, rivals []*entry, k kind) ruling {
		if !hasRuns(e, rivals, k) {
			return undecided(noRuns)
		}
		if why := notFastest(e, rivals, k); why != "" {
			return refused("winner", "%s", why)
		}
		return held("its runs are told apart from those of %s", spelling.Count(len(rivals)-1, "other row"))
	})
}

// shortestOnce judges that a row had the shortest step in one run of each, which says no more.
func shortestOnce(c *court, m []string) ruling {
	return c.first(m, func(e *entry, rivals []*entry, k kind) ruling {
		for _, o := range rivals {
			if o.cell(k).value+o.cell(k).half < e.cell(k).value-e.cell(k).half {
				return refused("winner", "%s has %s, %s has %s", o.name, o.figure(k), e.name, e.figure(k))
			}
		}
		return held("%s has the least of %d, from one run each", e.name, len(rivals))
	})
}

// shortestOfFew judges that a row had the shortest step, that the runs do not tell it from the rows that the
// sentence names behind it, and that one of those that are ranked has the time at its end.
func shortestOfFew(c *court, m []string) ruling {
	r := shortestOnce(c, m[:9])
	if r.verdict != Holds {
		return r
	}
	rivals, k := c.rivals(c.subject(m[1]))
	has := func(o *entry) bool { return isTime(o, k, m[10], m[11]).verdict == Holds }
	if !slices.ContainsFunc(rivals, has) {
		return refused("wrong denominators", "no row that is ranked has a %s of %s %s", k.word(), m[10],
			m[11])
	}
	return c.untold(c.subject(m[1]), c.subjectsIn(m[9]))
}

// fastestOfFew judges the ratio of a row to another one, and that the runs do not tell it from those behind
// it. That it was first in the median round is what report and table rank by.
func fastestOfFew(c *court, m []string) ruling {
	if m[2] != "" {
		if r := within(c.subject(m[1]), c.subject(m[5]), m[2:5]); r.verdict != Holds {
			return r
		}
	}
	return c.untold(c.subject(m[1]), c.subjectsIn(m[7]))
}

// subjectsIn returns the rows that a part of a sentence names.
func (c *court) subjectsIn(words string) (out []*entry) {
	for _, m := range namedRow.FindAllStringSubmatch(words, -1) {
		if e := c.subject(m[1]); e != nil {
			out = append(out, e)
		}
	}
	return out
}

// namedRow is a row in a sentence.
var namedRow = regexp.MustCompile(`§(\d)`)

// first judges a row among its rivals, and the figures that a sentence gives beside its name.
func (c *court) first(m []string, judge func(e *entry, rivals []*entry, k kind) ruling) ruling {
	e := c.subject(m[1])
	rivals, k := c.rivals(e)
	if len(rivals) < 2 {
		return undecided("no time of two rows that are ranked")
	}
	if r := c.figures(e, k, m); r.verdict == Wrong {
		return r
	}
	return judge(e, rivals, k)
}

// figures judges the time, the ratio and the efficiency that a sentence gives beside the name of a row.
func (c *court) figures(e *entry, k kind, m []string) ruling {
	if text := group(m, 2); text != "" {
		if r := isTime(e, k, text, m[3]); r.verdict == Wrong {
			return r
		}
	}
	if group(m, 4) == "" {
		return held("")
	}
	if r := eachCore(e, c.subject(m[7]), m[4], m[8]); r.verdict == Wrong {
		return r
	}
	return within(e, c.subject(m[7]), m[4:7])
}

// isTime judges the time of a row.
func isTime(e *entry, k kind, text, unit string) ruling {
	v, half := amount(text)
	v, half = v*secondsIn(unit), half*secondsIn(unit)
	return isNear(e, k, v, leeway(v, half))
}

// takes judges the time of a row that a sentence says.
func takes(c *court, m []string) ruling {
	e := c.subject(m[1])
	if e == nil {
		return undecided("it names no row")
	}
	if !given(e.value(step)) {
		return undecided("no time of a step of %s", e.name)
	}
	return isTime(e, step, m[2], m[3])
}

// eachCore judges the percentage per core beside a ratio of two rows: by the efficiency that the table has,
// or by the ratio and the processors of both.
func eachCore(a, b *entry, ratio, text string) ruling {
	if a == nil || b == nil || text == "" {
		return held("")
	}
	v, half := amount(text)
	share := a.cell(efficiency).derived(efficiency)
	if given(share.value) {
		if !(math.Abs(share.value-v/100) <= share.half+half/100+slack) {
			return refused("wrong denominators", "the efficiency of %s is %s", a.name, percent(share.value))
		}
		return held("")
	}
	s, off := amount(ratio)
	p := a.busy() / b.busy()
	if given(p) && !(math.Abs(s/p-v/100) <= leeway(s, off)/p+half/100+slack) {
		return refused("wrong denominators", "%s / %s = %s", ratio, num(p), percent(s/p))
	}
	return held("")
}

// busy returns the processors of an entry that its machines have.
func (e *entry) busy() float64 {
	if h := e.hosts(); given(h) {
		return min(e.processors(), h)
	}
	return e.processors()
}

// within judges that row a is so many times as fast as row b: said are the ratio and its interval, or "". Of
// runs the ratio is the median over rounds; a table of medians may be off by what the interval leaves open.
func within(a, b *entry, said []string) ruling {
	if a == nil || b == nil || a == b {
		return undecided("no two rows to compare")
	}
	k, ok := timeOf(a, b)
	if !ok {
		return undecided("no time of both rows")
	}
	v, half := amount(said[0])
	got := compare(b, a, k)
	off := leeway(v, half) + 2*slack*v
	lo, hi := v-off, v+off
	if said[1] != "" && got.isOne {
		low, below := amount(said[1])
		high, above := amount(said[2])
		lo, hi = min(lo, low-leeway(low, below)), max(hi, high+leeway(high, above))
	}
	sum := fmt.Sprintf("by the %s %s is %s× as fast as %s", k.word(), a.name, num(got.ratio), b.name)
	if !(got.ratio >= lo && got.ratio <= hi) {
		return refused("wrong denominators", "%s", sum)
	}
	return held("%s", sum)
}

// timesWithin judges a ratio of two rows that its interval says how sure it is of.
func timesWithin(c *court, m []string) ruling {
	a, b := c.subject(m[1]), c.subject(m[5])
	r := within(a, b, m[2:5])
	v, half := amount(m[2])
	if r.verdict != Holds || math.Abs(v-1) <= leeway(v, half) {
		return r
	}
	if each := eachCore(a, b, m[2], group(m, 6)); each.verdict == Wrong {
		return each
	}
	k, _ := timeOf(a, b)
	if got := compare(a, b, k); !got.isOne && !got.mayBeApart(got.p) {
		return refused("winner", "%s: %s", got.text, got.why(got.p))
	}
	return r
}

// next judges how far the fastest row is ahead of the one that a sentence names.
func next(c *court, m []string) ruling { return c.ahead(m[4], m[1:4], false) }

// runnerUp judges how near the row that a sentence names comes to the fastest.
func runnerUp(c *court, m []string) ruling { return c.ahead(m[1], m[2:5], true) }

// ahead judges the ratio of the fastest row and another, or its inverse.
func (c *court) ahead(digit string, said []string, isInverse bool) ruling {
	e := c.subject(digit)
	rivals, k := c.rivals(e)
	if len(rivals) < 2 {
		return undecided("no time of two rows that are ranked")
	}
	fastest := slices.MinFunc(rivals, func(a, b *entry) int { return sign(a.slowness(k) - b.slowness(k)) })
	if isInverse {
		return within(e, fastest, said)
	}
	return within(fastest, e, said)
}

// unbeaten judges that no row is told to be faster than the one that a sentence names.
func unbeaten(c *court, m []string) ruling {
	e := c.subject(m[1])
	rivals, k := c.rivals(e)
	switch {
	case len(rivals) < 2:
		return undecided("no time of two rows that are ranked")
	case !hasRuns(e, rivals, k):
		return undecided(noRuns)
	}
	for _, o := range rivals {
		if got := compare(o, e, k); o != e && got.ratio < 1 && c.isTold(got) {
			return refused("winner", "%s: the runs tell %s to be faster", got.text, o.name)
		}
	}
	return held("the runs tell none of %s to be faster", spelling.Count(len(rivals)-1, "other row"))
}

// tied judges that the runs do not tell the row that a sentence names as the measure, or else its first,
// apart from the others.
func tied(c *court, m []string) ruling {
	if len(c.subjects) == 0 {
		return undecided("no two rows to compare")
	}
	first := c.subjects[0]
	if from := c.subject(group(m, 1)); from != nil {
		first = from
	}
	others := slices.DeleteFunc(slices.Clone(c.subjects), func(o *entry) bool { return o == first })
	return c.untold(first, others)
}

// untold judges that the runs do not tell a row apart from others.
func (c *court) untold(first *entry, others []*entry) ruling {
	if first == nil || len(others) == 0 {
		return undecided("no two rows to compare")
	}
	k, ok := timeOf(append(slices.Clone(others), first)...)
	switch {
	case !ok:
		return undecided("no time that all rows have")
	case !hasRuns(first, others, k):
		return undecided(noRuns)
	}
	for _, o := range others {
		if got := compare(first, o, k); c.isTold(got) {
			return refused("winner", "%s: the runs tell them apart%s", got.text, probability(got.p))
		}
	}
	return held("the runs do not tell %s apart from %s", first.name, list(namesOf(others)))
}

// alike judges that two rows are not told apart, and their ratio.
func alike(c *court, m []string) ruling {
	if r := within(c.subject(m[1]), c.subject(m[2]), m[3:6]); r.verdict != Holds {
		return r
	}
	return tied(c, nil)
}

// eachRun reads a cell with a figure of each run, such as "2.40 2.37 (4.40)"; those in brackets do not count
// and are NaN. It is nil if a word of the cell is no number.
func eachRun(text string) []float64 {
	var out []float64
	for word := range strings.FieldsSeq(text) {
		bare := strings.TrimSuffix(strings.TrimPrefix(word, "("), ")")
		v, _, ok := parseNumber(bare)
		switch {
		case !ok:
			return nil
		case bare != word:
			v = math.NaN()
		}
		out = append(out, v)
	}
	return out
}

// listed returns the figures of each run that a column beside column i holds, and the places of those that
// count.
func (e *entry) listed(i int) (ids []string, out []float64) {
	for j, c := range e.table.columns {
		if c.kind != runList || c.of != i || len(e.rows) != 1 {
			continue
		}
		all := e.table.rows[e.rows[0]][j].list
		for at, v := range all {
			if given(v) {
				ids = append(ids, fmt.Sprintf("%d of %d", at+1, len(all)))
				out = append(out, v)
			}
		}
	}
	return ids, out
}

// middle are headings whose figure the caption of a table names.
var middle = regexp.MustCompile(`^(median|mean|average)$`)

// saysStep is how a caption names the time of a step.
var saysStep = regexp.MustCompile(`(?i)\bstep time\b`)

// isMedianOf reports whether a column is the median of what the caption names: the time of a step.
func (t *table) isMedianOf(c column) bool {
	words, _ := headingWords(c.header)
	return c.kind == unknown && c.unit > 0 && middle.MatchString(words) && saysStep.MatchString(t.caption)
}

// keyed is a label behind the letter by which a report's figures name the row.
var keyed = regexp.MustCompile(`^[A-Z]{1,2} {2,}(.+)$`)

// ownLabel returns the name that Lockstep's reports give the row: strategy, workers × threads, its own
// settings and a wire that is no plain one; "" without these columns.
func (e *entry) ownLabel() string {
	w, n := e.cell(workers).value, e.cell(threads).value
	if e.text(strategy) == "" || !given(w) || !given(n) {
		return ""
	}
	name := fmt.Sprintf("%s %sx%s", e.text(strategy), num(w), num(n))
	for i, c := range e.table.columns {
		text := e.table.rows[e.rows[0]][i].text
		if c.kind != setting || isBlank(text) || text == "fp32" || c.name != "settings" && c.name != "wire" {
			continue
		}
		if c.name == "wire" && strings.Contains(name, "wire=") {
			continue
		}
		name += " " + text
	}
	return name
}
