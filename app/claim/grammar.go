package claim

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"lockstep/app/analysis"
)

// Parts of the grammar.
const (
	is     = `(?:is|was|are|were|runs|ran|trains|trained)`
	about  = `(?:about|roughly|only|nearly|almost|approximately|around|just)? ?`
	figure = `(\d+(?:\.\d+)?)`
	give   = `(?:reach(?:es|ed)?|achieves?d?|gives?|gave|has|have|had|shows?|showed|delivers?|yields?|` +
		`ends? with|with)`
)

// grammar lists the sentences that are understood, as docs/check.md describes them. § and a digit stand for a
// row; the first form that fits judges.
func grammar() []production {
	list := []form{
		{`^§(\d) ` + is + ` ` + about + figure + `x (?:as fast as|faster than|the speed of) §(\d)$`,
			timesFaster},
		{`^§(\d) ` + is + ` ` + about + figure + `x (?:faster|as fast)$`, timesFaster},
		{`^§(\d) ` + is + ` ` + about + figure + `x slower(?: than §(\d))?$`, timesSlower},
		{`^§(\d) takes ` + about + figure + `x as long as §(\d)$`, timesSlower},
		{`^§(\d) ` + is + ` ` + about + figure + `% faster(?: than §(\d))?$`, percentFaster},
		{`^§(\d) ` + is + ` ` + about + figure + `% slower(?: than §(\d))?$`, percentSlower},
		{`^§(\d) (?:takes|took) ` + about + figure + `% (?:longer|more time)(?: than §(\d))?$`,
			percentSlower},
		{`^§(\d) (?:costs?|adds?) ` + about + figure + `%(?: more)?(?: time)?(?: (?:than|over|to) §(\d))?$`,
			percentSlower},
		{`^§(\d) (?:costs?|adds?) ` + about + figure + `% (?:of )?overhead$`, percentSlower},
		{`^§(\d) ` + is + ` (?:consistently |clearly |always )?faster than §(\d)$`, faster},
		{`^§(\d) (?:beats|outperforms|wins against|wins over) §(\d)$`, faster},
		{`^§(\d) ` + is + ` slower than §(\d)$`, slower},
		{`^§(\d) ` + is + ` (?:the )?(?:fastest|quickest|winner)(?: of all| strategy| configuration)?$`,
			fastest},
		{`^§(\d) (?:clearly |easily )?wins$`, fastest},
		{`^(?:the )?(?:fastest|quickest|winner)(?: \w+)? is §(\d)$`, fastest},
		{`^§(\d) ` + give + ` (?:the )?(?:best|highest) (?:performance|throughput|speed)$`, bestOf},
		{`^(?:the )?best (?:strategy|configuration|performance|choice|setup) is (?:that of )?§(\d)$`,
			bestOf},
		{`^§(\d) halves the (?:step |epoch |total |training )?time(?: of §(\d))?$`, halves},
		{`^§(\d) ` + is + ` (?:the )?slowest$`, slowest},
		{`^(?:the )?speedup (?:of|with|for|at) §(\d) (?:is|was) ` + about + figure + `x?(?: over §(\d))?$`,
			timesFaster},
		{`^§(\d) ` + give + ` (?:a )?speedup of ` + about + figure + `x?(?: over §(\d))?$`, timesFaster},
		{`^(?:the |a )?speedup of ` + about + figure + `x?$`, onlySpeedup},
		{`^(?:the |our )?speedup (?:is|was) ` + about + figure + `x?$`, theSpeedup},
		{`^(?:the )?efficiency (?:of|with|for|at) §(\d) (?:is|was) ` + about + figure + `%$`, efficient},
		{`^§(\d) ` + give + ` (?:an )?efficiency of ` + about + figure + `%$`, efficient},
		{`^§(\d) ` + give + ` (?:a )?(?:better|higher) (?:test |validation )?accuracy(?: than §(\d))?$`,
			accurate},
		{`^§(\d) ` + give + ` (?:the )?(?:best|highest) (?:test |validation )?accuracy$`, mostAccurate},
		{`^§(\d) ` + is + ` more accurate(?: than §(\d))?$`, accurate},
		{`^§(\d) and §(\d) (?:reach|have|end with|achieve|give|reached) (?:the |an? )?(?:same|` +
			`equal|identical|comparable) (?:test |validation )?accuracy$`, sameAccuracy},
		{`^§(\d) ` + give + ` the same (?:test |validation )?accuracy as §(\d)$`, sameAccuracy},
		{`^(?:the )?(network|communication|exchange|synchroni[sz]ation)(?: time)? (?:is|was) (not ` +
			`)?(?:the |a )?(?:bottleneck|limit|limiting factor)$`, bottleneck},
		{`^§\d (?:has |have )?(?:overlap(?:s|ped)?|hides?|hid|hidden)\b.*\b(?:communication|exchange|` +
			`gradients?|computation|backward)\b`, overlaps},
		{`^(?:in §\d )?(?:the )?(?:communication|exchange|gradients?)(?: \w+)? (?:is|are|was|were) ` +
			`(?:well |fully |completely )?(?:overlapped|hidden)\b`, overlaps},
		{`\b(?:because|due to|caused by|owing to|thanks to|as a result of|explained by|attributed to)\b(.*)$`,
			causes},
		{`\b(?:limited by|bound by|comes? from|stems? from|correspond(?:s|ed)? to|reflects?|suffers? ` +
			`from)\b(.*)$`,
			knownCauses},
		{`\b(?:likely|probably|presumably|perhaps|possibly)\b(.*)$`, knownCauses},
		{`^(?:§(\d) )?(?:scales|scaled|scaling is) (?:near |nearly |almost )?(?:linearly|linear|perfectly|` +
			`perfect)(?: (?:up )?to §(\d))?$`, linear},
		{`^(?:near |nearly |almost )?linear (?:scaling|speedup)$`, linear},
		{`^(?:the )?serial (?:fraction|share|part) (?:is|was|of) ` + about + figure + `%$`, serialShare},
		{`^` + figure + `%(?: of the (?:work|code|time|program|training))? is (parallel|` +
			`serial)(?:isable|izable)?$`,
			parallelShare},
		{`^(?:amdahl's law |by amdahl's law )?(?:with |at )?` + figure +
			`% parallel(?: code| work)?(?: by)?(?: amdahl's law)? (?:gives|means|predicts|allows) ` +
			about + figure + `x? (?:at|on|with) ` + figure +
			` (?:workers|nodes|processors|devices|gpus|cores)$`,
			amdahlSays},
		{`\b(?:converge[sd]?|convergence|converging)\b`, converges},
		{`^(?:§\d |the model |it )(?:has |have )?(?:learned|learns|trained well|trains well)$`, converges},
	}
	list = slices.Concat(findings(), list, everyday(), changing())
	out := make([]production, len(list))
	for i, p := range list {
		out[i] = production{regexp.MustCompile(p.text), p.judge}
	}
	return out
}

func undecided(format string, args ...any) ruling {
	return ruling{verdict: NotChecked, why: fmt.Sprintf(format, args...)}
}

func held(format string, args ...any) ruling {
	return ruling{verdict: Holds, why: fmt.Sprintf(format, args...)}
}

// refused refuses a sentence by a rule of tables, whose answer would answer it too.
func refused(rule, format string, args ...any) ruling {
	return refusedUntil(rule, answerTo(rule), format, args...)
}

// refusedUntil refuses a sentence by a rule of sentences alone. next would answer it.
func refusedUntil(rule, next, format string, args ...any) ruling {
	return ruling{Wrong, fmt.Sprintf(format, args...), answer{rule, next}}
}

// pair returns the rows of a comparison; the second is the baseline unless the sentence names it.
func (c *court) pair(first, second string) (a, b *entry) {
	a = c.subject(first)
	if second != "" {
		return a, c.subject(second)
	}
	if a == nil {
		return nil, nil
	}
	b = c.t.base
	if len(c.t.entries) == 2 {
		b = c.t.entries[0]
		if b == a {
			b = c.t.entries[1]
		}
	}
	return a, b
}

func (c *court) subject(digit string) *entry {
	if digit == "" || int(digit[0]-'0') >= len(c.subjects) {
		return nil
	}
	return c.subjects[digit[0]-'0']
}

// amount reads a figure of a sentence and half a unit of its last digit.
func amount(text string) (v, half float64) {
	v, half, _ = parseNumber(text)
	return v, half
}

func timesFaster(c *court, m []string) ruling {
	v, half := amount(m[2])
	a, b := c.pair(m[1], last(m, 3))
	factors := []float64{v}
	if almost.MatchString(c.words) {
		factors = append(factors, 0.93*v) // with its own room, 10 % less
	}
	return c.speed(a, b, factors, half)
}

// almost are words for a bit less.
var almost = regexp.MustCompile(`\b(almost|nearly)\b`)

func timesSlower(c *court, m []string) ruling {
	v, half := amount(m[2])
	a, b := c.pair(m[1], last(m, 3))
	return c.speed(a, b, []float64{1 / v}, half/v/v)
}

func halves(c *court, m []string) ruling {
	a, b := c.pair(m[1], last(m, 2))
	return c.speed(a, b, []float64{2}, 0.05)
}

func percentFaster(c *court, m []string) ruling {
	v, half := amount(m[2])
	a, b := c.pair(m[1], last(m, 3))
	return c.percentOf(a, b, [2]float64{1 + v/100, 1 / max(0, 1-v/100)}, half/100)
}

func percentSlower(c *court, m []string) ruling {
	v, half := amount(m[2])
	a, b := c.pair(m[1], last(m, 3))
	return c.percentOf(a, b, [2]float64{1 - v/100, 1 / (1 + v/100)}, half/100)
}

// percentOf judges a percentage that may be one of speed, as it says, or one of time, as people also mean it:
// the factors by which a is as fast as b then. What holds by time alone says so.
func (c *court) percentOf(a, b *entry, factors [2]float64, half float64) ruling {
	r := c.speed(a, b, factors[:], half)
	if bySpeed := c.speed(a, b, factors[:1], half); r.verdict != Holds || bySpeed.verdict == Holds {
		return r
	}
	r.why += "; the percentage is one of time, not of speed"
	return r
}

func last(m []string, i int) string {
	if i < len(m) {
		return m[i]
	}
	return ""
}

func faster(c *court, m []string) ruling {
	a, b := c.pair(m[1], m[2])
	return c.speed(a, b, nil, 0)
}

func slower(c *court, m []string) ruling {
	a, b := c.pair(m[1], m[2])
	return c.speed(b, a, nil, 0)
}

// onlySpeedup is a speed-up in a table of two rows.
func onlySpeedup(c *court, m []string) ruling {
	if c.t == nil || len(c.t.entries) != 2 {
		return someSpeedup(c, []string{"", m[1], ""})
	}
	b := baseline(c.t.entries)
	if b == nil {
		return undecided("no row to compare with")
	}
	a := c.t.entries[0]
	if a == b {
		a = c.t.entries[1]
	}
	v, half := amount(m[1])
	return c.speed(a, b, []float64{v}, half)
}

// speed judges that a is faster than b, by one of the factors if there are any.
func (c *court) speed(a, b *entry, factors []float64, half float64) ruling {
	if a == nil || b == nil || a == b {
		return undecided("no two rows to compare")
	}
	for _, e := range []*entry{a, b} {
		if e.isProjected {
			return refused("projections", "%s was projected, not measured", e.name)
		}
	}
	if why := unequal(a, b); why != "" {
		return refused("unequal work", "%s", why)
	}
	fitting, other := timesThatGive(a, b, factors, half)
	if factors != nil && len(fitting) > 0 { // the others may give nearly the same
		first := ratioBy(a, b, fitting[0])
		other = slices.DeleteFunc(other, func(k kind) bool {
			return math.Abs(ratioBy(a, b, k)/first-1) <= mixed
		})
	}
	if isWeak := grown(a, b) != 1; isWeak && len(fitting) > 0 {
		other = nil
	} else if isWeak && fitsRaw(a, b, factors, half) {
		return undecided("the batch grows with the workers, from %s to %s: say whether it is the time of a "+
			"step that counts, or samples per second", num(min(a.batch(), b.batch())),
			num(max(a.batch(), b.batch())))
	}
	by := func(k kind) string {
		return fmt.Sprintf("by the %s %s is %s× as fast as %s (%s and %s)", k.word(), a.name,
			num(ratioBy(a, b, k)), b.name, a.figure(k), b.figure(k))
	}
	switch {
	case len(fitting)+len(other) == 0:
		return undecided("no time of both rows")
	case len(fitting) == 0:
		return refused("wrong denominators", "%s", by(other[0]))
	case len(other) > 0:
		return refused("total mixed with epoch", "%s, but %s", by(fitting[0]), by(other[0]))
	}
	e := compare(a, b, fitting[0])
	switch {
	case e.isOne && e.isNear():
		return refused("one repeat", "%s: %s apart, %s; runs of one row differ by up to %s", e.text, e.gap(),
			e.basis, percent(analysis.NoiseLimit))
	case e.isOne:
		return held("%s, %s", by(fitting[0]), e.basis)
	case !e.mayBeApart(e.p):
		return refused("winner", "%s: %s", e.text, e.why(e.p))
	}
	return held("%s", by(fitting[0]))
}

// ratioBy returns how many times as fast a is as b, by a kind of time.
func ratioBy(a, b *entry, k kind) float64 { return b.slowness(k) / a.slowness(k) * work(a, b, k) }

// timesThatGive sorts the kinds of time of two rows into those by which a is faster by one of the factors, or
// at all if there are none, and the others.
func timesThatGive(a, b *entry, factors []float64, half float64) (fitting, other []kind) {
	isStated := factors != nil
	factors = slices.DeleteFunc(factors, func(f float64) bool { return !given(f) || f <= 0 })
	for _, k := range append(times(), rankStep, throughput) {
		r := ratioBy(a, b, k)
		if !given(r) {
			continue
		}
		if !isStated && r > 1 || isFactor(r, factors, half) {
			fitting = append(fitting, k)
		} else {
			other = append(other, k)
		}
	}
	return fitting, other
}

// isFactor reports whether a ratio is one of the factors, as rounded.
func isFactor(r float64, factors []float64, half float64) bool {
	return slices.ContainsFunc(factors, func(f float64) bool {
		return math.Abs(r-f) <= leeway(f, half)+2*slack*f && (f-1)*(r-1) >= 0
	})
}

// fitsRaw reports whether one of the factors is that of the steps of unlike batches, or that of times in
// which rows of unlike batches may have done as many steps.
func fitsRaw(a, b *entry, factors []float64, half float64) bool {
	for _, k := range times() {
		r := b.slowness(k) / a.slowness(k)
		if k != step {
			r *= grown(a, b)
		}
		if factors == nil && r > 1 || isFactor(r, factors, half) {
			return true
		}
	}
	return false
}

// unequal says how the work of two rows differs; "" if nothing shows that it does.
func unequal(a, b *entry) string {
	why := ""
	say := func(severity Severity, _, format string, args ...any) {
		if severity == Refused && why == "" {
			why = fmt.Sprintf(format, args...)
		}
	}
	g := []*entry{a, b}
	differs(g, samplesOf, "samples", say)
	differs(g, func(e *entry) float64 { return e.value(epochs) }, "epochs", say)
	wholeEpochs(g, say)
	unequalBatch(g, say)
	return why
}

func fastest(c *court, m []string) ruling { return c.extreme(m[1], true) }

// bestOf is fastest where nothing but speed can be meant.
func bestOf(c *court, m []string) ruling {
	if c.t != nil && (c.t.has(accuracy) || c.t.has(loss)) {
		return undecided("the best by time, or by accuracy")
	}
	return fastest(c, m)
}

func slowest(c *court, m []string) ruling { return c.extreme(m[1], false) }

// extreme judges that a row is faster, or slower, than every other one of its model and data set.
func (c *court) extreme(digit string, isFastest bool) ruling {
	e := c.subject(digit)
	if e == nil {
		return undecided("it names no row")
	}
	var group []*entry
	for _, g := range c.t.groups() {
		if slices.Contains(g, e) {
			group = g
		}
	}
	k, ok := timeOf(group...)
	if !ok || len(group) < 2 {
		return undecided("no time that all rows have")
	}
	others := slices.DeleteFunc(slices.Clone(group), func(o *entry) bool { return o == e })
	word := "shortest"
	if !isFastest {
		word = "longest"
		for _, o := range others {
			if why, is := wins(o, []*entry{o, e}, k); !is {
				return refused("winner", "%s", why)
			}
		}
	} else if why, is := wins(e, group, k); !is {
		return refused("winner", "%s", why)
	}
	basis := ""
	for _, o := range others {
		if why := unequal(e, o); why != "" {
			return refused("unequal work", "%s and %s: %s", e.name, o.name, why)
		}
		if one := compare(e, o, k); one.isOne {
			basis = ", " + one.basis
		}
	}
	return held("its %s is the %s of %d rows%s", k.word(), word, len(group), basis)
}

func efficient(c *court, m []string) ruling {
	e := c.subject(m[1])
	if e == nil || c.t.base == nil || e == c.t.base {
		return undecided("no row to compare with")
	}
	v, half := amount(m[2])
	s, p := e.speedupOver(c.t.base), e.processors()/c.t.base.processors()
	if !given(s.value) || !given(p) {
		return undecided("no speed-up and number of workers of both rows")
	}
	got := s.value / p
	sum := fmt.Sprintf("%s / %s = %s", num(s.value), num(p), percent(got))
	if !(math.Abs(got-v/100) <= half/100+2*slack*got) {
		return refused("wrong denominators", "%s", sum)
	}
	return held("%s", sum)
}

// serialShare and parallelShare judge a serial fraction by that which the speed-ups show.
func serialShare(c *court, m []string) ruling {
	v, _ := amount(m[1])
	return c.serial(v / 100)
}

func parallelShare(c *court, m []string) ruling {
	v, _ := amount(m[1])
	if m[2] == "parallel" {
		v = 100 - v
	}
	return c.serial(v / 100)
}

func (c *court) serial(f float64) ruling {
	if c.t == nil {
		return undecided("no table of speed-ups")
	}
	base := c.t.base
	if base == nil {
		return undecided("no row to compare with")
	}
	var points []analysis.Scaled
	var shown []string
	for _, e := range c.t.measured {
		p, s := e.processors()/base.processors(), e.speedupOver(base).value
		if p > 1 && given(s) {
			points = append(points, analysis.Scaled{Processors: p, Speedup: s})
			shown = append(shown, fmt.Sprintf("%s at %s means %s", num(s), num(p),
				percent(analysis.KarpFlatt(points[len(points)-1]))))
		}
	}
	if points == nil {
		return undecided("no speed-up at several workers")
	}
	fit, law := analysis.FitAmdahl(points), "Amdahl's law"
	if c.t.isWeak() {
		fit, law = analysis.FitGustafson(points), "Gustafson's law, as the batch grows with the workers,"
	}
	if !(math.Abs(fit-f) <= 0.25*math.Max(fit, f)) {
		return refused("Amdahl", "the speed-ups contradict a serial fraction of %s: %s fits %s (%s)",
			percent(f), law, percent(fit), strings.Join(shown[:min(len(shown), 4)], ", "))
	}
	return held("%s fits %s", law, percent(fit))
}

// isWeak reports whether the batch grows with the workers.
func (t *table) isWeak() bool {
	base := t.base
	for _, e := range t.measured {
		if base != nil && e != base && !(math.Abs(weak(base, e)-1) < equalWork && e.batch() != base.batch()) {
			return false
		}
	}
	return base != nil
}

func amdahlSays(_ *court, m []string) ruling {
	share, _ := amount(m[1])
	v, half := amount(m[2])
	p, _ := amount(m[3])
	got := analysis.Amdahl(1-share/100, p)
	if !(share <= 100 && p >= 1) {
		return refused("Amdahl", "%s %% parallel on %s processors: the law takes at most 100 %%, and one or "+
			"more", m[1], m[3])
	}
	if !(math.Abs(got-v) <= leeway(v, half)+slack/2*got) {
		return refused("Amdahl", "Amdahl's law gives 1 / (%s + %s / %s) = %s", num(1-share/100),
			num(share/100), num(p), num(got))
	}
	return held("Amdahl's law gives %s", num(got))
}

// perfectly are words that say more than "linear" does.
var perfectly = regexp.MustCompile(`(?i)^(?:§\d )?(?:scales|scaled|scaling is) perfect`)

func linear(c *court, m []string) ruling {
	if c.t == nil || c.t.base == nil {
		return undecided("no row to compare with")
	}
	base, most := c.t.base, c.subject(cmp.Or(last(m, 1), last(m, 2)))
	if most == nil {
		most = slices.MaxFunc(c.t.measured,
			func(a, b *entry) int { return sign(a.processors() - b.processors()) })
	}
	s, p := most.speedupOver(base).value, most.processors()/base.processors()
	switch {
	case !(p > 1) || !given(s):
		return undecided("no speed-up of a row of more workers")
	case s/p < 1-loosest && perfectly.MatchString(m[0]), s/p < 1-analysis.NoiseLimit:
		return refused("wrong denominators", "%s is %s× at %s times the processors, %s of linear", most.name,
			num(s), num(p), percent(s/p))
	}
	return held("%s is %s× at %s times the processors", most.name, num(s), num(p))
}
