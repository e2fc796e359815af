package claim

import (
	"fmt"
	"math"
	"regexp"
	"slices"

	"lockstep/app/analysis"
)

// judge rules on a sentence by the groups of the form that fits it.
type judge func(c *court, m []string) ruling

// form is one form of sentence that is understood. Its text is a regular expression for the words of
// [normal], in which § and a digit stand for a row.
type form struct {
	example string // of rows called solo, ddp and ps; a test holds the form to it
	text    string
	judge   judge
}

// Parts of the grammar.
const (
	is     = `(?:is|was|are|were|runs|ran|trains|trained)`
	about  = `(?:about|roughly|only|nearly|almost|approximately|around|just)? ?`
	figure = `(\d+(?:\.\d+)?)`
	give   = `(?:reach(?:es|ed)?|achieves?d?|gives?|gave|has|have|had|shows?|showed|delivers?|yields?|` +
		`ends? with|with)`
)

// grammar returns all forms, as docs/check.md describes them. The first one that fits a sentence judges it.
func grammar() []production {
	list := forms()
	out := make([]production, len(list))
	for i, f := range list {
		out[i] = production{regexp.MustCompile(f.text), f.judge}
	}
	return out
}

func forms() []form {
	return slices.Concat(findings(), comparisonForms(), winnerForms(), speedupForms(), accuracyForms(),
		reasonForms(), lawForms(), everyday(), changing(), multipleForms())
}

// comparisonForms lists sentences about the speed of one row beside another.
func comparisonForms() []form {
	return []form{
		{"ddp was 1.8x faster than solo",
			`^§(\d) ` + is + ` ` + about + figure + `x (?:as fast as|faster than|the speed of) §(\d)$`,
			timesFaster},
		{"ddp is 1.8x faster", `^§(\d) ` + is + ` ` + about + figure + `x (?:faster|as fast)$`, timesFaster},
		{"ps is 2x slower than ddp", `^§(\d) ` + is + ` ` + about + figure + `x slower(?: than §(\d))?$`,
			timesSlower},
		{"ps takes 1.5x as long as ddp", `^§(\d) takes ` + about + figure + `x as long as §(\d)$`,
			timesSlower},
		{"ddp is 80% faster than solo", `^§(\d) ` + is + ` ` + about + figure + `% faster(?: than §(\d))?$`,
			percentFaster},
		{"ddp is faster than solo by 80%", `^§(\d) ` + is + ` faster than §(\d) by ` + about + figure + `%$`,
			inOrder(percentFaster, 1, 3, 2)},
		{"ps is slower than ddp by 30%", `^§(\d) ` + is + ` slower than §(\d) by ` + about + figure + `%$`,
			inOrder(percentSlower, 1, 3, 2)},
		{"ps is 30% slower than ddp", `^§(\d) ` + is + ` ` + about + figure + `% slower(?: than §(\d))?$`,
			percentSlower},
		{"ps took 30% longer than ddp",
			`^§(\d) (?:takes|took) ` + about + figure + `% (?:longer|more time)(?: than §(\d))?$`,
			percentSlower},
		{"ps costs 30% more time than ddp",
			`^§(\d) (?:costs?|adds?) ` + about + figure +
				`%(?: more)?(?: time)?(?: (?:than|over|to) §(\d))?$`, percentSlower},
		{"ps adds 30% overhead", `^§(\d) (?:costs?|adds?) ` + about + figure + `% (?:of )?overhead$`,
			percentSlower},
		{"ddp is clearly faster than solo",
			`^§(\d) ` + is + ` (?:consistently |clearly |always )?faster than §(\d)$`, faster},
		{"ddp beats ps", `^§(\d) (?:beats|outperforms|wins against|wins over) §(\d)$`, faster},
		{"ps is slower than ddp", `^§(\d) ` + is + ` slower than §(\d)$`, slower},
		{"4 workers are slower than 2", `^§(\d) ` + is + ` (slower|faster) than (\d+)$`, thanSoMany},
	}
}

// winnerForms lists sentences about one row beside all others.
func winnerForms() []form {
	return []form{
		{"ddp is the fastest strategy",
			`^§(\d) ` + is + ` (?:the )?(?:fastest|quickest|winner)(?: of all| strategy| configuration)?$`,
			fastest},
		{"ddp clearly wins", `^§(\d) (?:clearly |easily )?wins$`, fastest},
		{"the fastest strategy is ddp", `^(?:the )?(?:fastest|quickest|winner)(?: \w+)? is §(\d)$`, fastest},
		{"ddp has the highest throughput",
			`^§(\d) ` + give + ` (?:the )?(?:best|highest) (?:performance|throughput|speed)$`, bestOf},
		{"the best choice is ddp",
			`^(?:the )?best (?:strategy|configuration|performance|choice|setup) is (?:that of )?§(\d)$`,
			bestOf},
		{"ps is the slowest", `^§(\d) ` + is + ` (?:the )?slowest(?: of all| configuration)?$`, slowest},
	}
}

// speedupForms lists sentences about speed-ups and efficiencies.
func speedupForms() []form {
	return []form{
		{"the speed-up of ddp is 1.8 over solo",
			`^(?:the )?speedup (?:of|with|for|at) §(\d) (?:is|was) ` + about + figure + `x?(?: over §(\d))?$`,
			timesFaster},
		{"ddp reaches a speed-up of 1.8 over solo",
			`^§(\d) ` + give + ` (?:a )?speedup of ` + about + figure + `x?(?: over §(\d))?$`, timesFaster},
		{"a speed-up of 1.8x", `^(?:the |a )?speedup of ` + about + figure + `x?$`, onlySpeedup},
		{"the speed-up is 1.8", `^(?:the |our )?speedup (?:is|was) ` + about + figure + `x?$`, theSpeedup},
		{"the efficiency of ddp is 90%",
			`^(?:the )?(?:scaling |parallel )?efficiency (?:of|with|for|at) §(\d) (?:is|was) ` + about +
				figure + `%$`, efficient},
		{"ddp has an efficiency of 90%", `^§(\d) ` + give + ` (?:an )?efficiency of ` + about + figure + `%$`,
			efficient},
	}
}

// accuracyForms lists sentences about which row learned more.
func accuracyForms() []form {
	return []form{
		{"ddp reaches a higher test accuracy than ps",
			`^§(\d) ` + give + ` (?:a )?(?:better|higher) (?:test |validation )?accuracy(?: than §(\d))?$`,
			accurate},
		{"ddp has the best accuracy",
			`^§(\d) ` + give + ` (?:the )?(?:best|highest) (?:test |validation )?accuracy$`, mostAccurate},
		{"ddp is more accurate than ps", `^§(\d) ` + is + ` more accurate(?: than §(\d))?$`, accurate},
		{"ddp and ps reach the same accuracy",
			`^§(\d) and §(\d) (?:reach|have|end with|achieve|give|reached) (?:the |an? )?(?:same|` +
				`equal|identical|comparable) (?:test |validation )?accuracy$`, sameAccuracy},
		{"ddp has the same accuracy as ps",
			`^§(\d) ` + give + ` the same (?:test |validation )?accuracy as §(\d)$`, sameAccuracy},
	}
}

// reasonForms lists sentences that say why a row takes its time.
func reasonForms() []form {
	return []form{
		{"the network is not the bottleneck",
			`^(?:the )?(network|communication|exchange|synchroni[sz]ation)(?: time)? (?:is|was) (not ` +
				`)?(?:the |a )?(?:bottleneck|limit|limiting factor)$`, bottleneck},
		{"ddp overlaps communication with the backward pass",
			`^§\d (?:has |have )?(?:overlap(?:s|ped)?|hides?|hid|hidden)\b.*\b(?:communication|exchange|` +
				`gradients?|computation|backward)\b`, overlaps},
		{"the communication is fully hidden",
			`^(?:in §\d )?(?:the )?(?:communication|exchange|gradients?)(?: \w+)? (?:is|are|was|were) ` +
				`(?:well |fully |completely )?(?:overlapped|hidden)\b`, overlaps},
		{"ps is slower because of the network",
			reason + `(.*)$`, causes},
		{"ps is limited by the network",
			`\b(?:limited by|bound by|comes? from|stems? from|correspond(?:s|ed)? to|reflects?|suffers? ` +
				`from)\b(.*)$`, knownCauses},
		{"ps is probably slowed by the network",
			`\b(?:likely|probably|presumably|perhaps|possibly)\b(.*)$`, knownCauses},
	}
}

// lawForms lists sentences about how training scales, and whether it converges.
func lawForms() []form {
	return []form{
		{"ddp scales linearly to 4 workers",
			`^(?:§(\d) )?(?:scales|scaled|scaling is) (?:near |nearly |almost )?(?:linearly|linear|` +
				`perfectly|perfect)(?: (?:up )?to §(\d))?$`, linear},
		{"near-linear scaling", `^(?:near |nearly |almost )?linear (?:scaling|speedup)$`, linear},
		{"the serial fraction is 5%",
			`^(?:the )?serial (?:fraction|share|part) (?:is|was|of) ` + about + figure + `%$`, serialShare},
		{"95% of the work is parallel",
			`^` + figure + `%(?: of the (?:work|code|time|program|training))? is (parallel|` +
				`serial)(?:isable|izable)?$`, parallelShare},
		{"with 95% parallel work Amdahl's law gives 5.9x on 8 workers",
			`^(?:amdahl's law |by amdahl's law )?(?:with |at )?` + figure +
				`% parallel(?: code| work)?(?: by)?(?: amdahl's law)? (?:gives|means|predicts|allows) ` +
				about + figure + `x? (?:at|on|with) ` + figure +
				` (?:workers|nodes|processors|devices|gpus|cores)$`, amdahlSays},
		{"the training converges", `\b(?:converge[sd]?|convergence|converging)\b`, converges},
		{"the model has learned",
			`^(?:§\d |the model |it )(?:has |have )?(?:learned|learns|trained well|trains well)$`, converges},
	}
}

// inOrder returns a judge that hands another one the groups of a form in the order in which it takes them.
func inOrder(j judge, order ...int) judge {
	return func(c *court, m []string) ruling {
		groups := []string{m[0]}
		for _, i := range order {
			groups = append(groups, group(m, i))
		}
		return j(c, groups)
	}
}

// group returns what a group of a form holds; "" if the form has no such group.
func group(m []string, i int) string {
	if i < len(m) {
		return m[i]
	}
	return ""
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
	a, b := c.pair(m[1], group(m, 3))
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
	a, b := c.pair(m[1], group(m, 3))
	return c.speed(a, b, []float64{1 / v}, half/v/v)
}

func percentFaster(c *court, m []string) ruling {
	v, half := amount(m[2])
	a, b := c.pair(m[1], group(m, 3))
	return c.percentOf(a, b, [2]float64{1 + v/100, 1 / max(0, 1-v/100)}, half/100)
}

func percentSlower(c *court, m []string) ruling {
	v, half := amount(m[2])
	a, b := c.pair(m[1], group(m, 3))
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

func faster(c *court, m []string) ruling {
	a, b := c.pair(m[1], m[2])
	return c.speed(a, b, nil, 0)
}

func slower(c *court, m []string) ruling {
	a, b := c.pair(m[1], m[2])
	return c.speed(b, a, nil, 0)
}

// thanSoMany compares a row with that of so many workers.
func thanSoMany(c *court, m []string) ruling {
	a := c.subject(m[1])
	b := c.from("", m[3], a)
	if m[2] == "slower" {
		a, b = b, a
	}
	return c.speed(a, b, nil, 0)
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
	if isWeak(a, b) && len(fitting) > 0 {
		other = nil
	} else if isWeak(a, b) && fitsRaw(a, b, factors, half) {
		what, x, y := "batch grows", a.batch(), b.batch()
		if grown(a, b) == 1 {
			what, x, y = "samples grow", a.value(samples), b.value(samples)
		}
		return undecided("the %s with the workers, from %s to %s: say whether it is the time that counts, "+
			"or samples per second", what, num(min(x, y)), num(max(x, y)))
	}
	switch {
	case len(fitting)+len(other) == 0:
		return undecided("no time of both rows")
	case len(fitting) == 0:
		return refused("wrong denominators", "%s", fasterText(a, b, other[0]))
	case len(other) > 0:
		return refused("total mixed with epoch", "%s, but %s", fasterText(a, b, fitting[0]),
			fasterText(a, b, other[0]))
	}
	return isShown(a, b, fitting[0])
}

// unreadColumn is why rows of one run each, as far as the table is read, are not judged.
const unreadColumn = "no rule reads %q, which may say how far the runs spread"

// isShown judges whether the runs of two rows show that a is faster by a kind of time that says so.
func isShown(a, b *entry, k kind) ruling {
	e := compare(a, b, k)
	switch {
	case e.isOne && e.isNear() && a.table.unreadSpread(k) != "":
		return undecided(unreadColumn, a.table.unreadSpread(k))
	case e.isOne && e.isNear():
		return refused("one repeat", "%s: %s apart, %s; runs of one row differ by up to %s", e.text, e.gap(),
			e.basis, percent(analysis.NoiseLimit))
	case e.isOne:
		return held("%s, %s", fasterText(a, b, k), e.basis)
	case !e.mayBeApart(e.p):
		return refused("winner", "%s: %s", e.text, e.why(e.p))
	}
	return held("%s", fasterText(a, b, k))
}

// fasterText says how many times as fast a is as b.
func fasterText(a, b *entry, k kind) string {
	return fmt.Sprintf("by the %s %s is %s× as fast as %s (%s and %s)", k.word(), a.name,
		num(ratioBy(a, b, k)), b.name, a.figure(k), b.figure(k))
}

// ratioBy returns how many times as fast a is as b, by a kind of time.
func ratioBy(a, b *entry, k kind) float64 { return b.slowness(k) / a.slowness(k) * work(a, b, k) }

// timesThatGive sorts the kinds of time of two rows into those by which a is faster by one of the factors, or
// at all if there are none, and the others. Those that give nearly the same as the first are neither.
func timesThatGive(a, b *entry, factors []float64, half float64) (fitting, other []kind) {
	isStated := factors != nil
	factors = slices.DeleteFunc(slices.Clone(factors), func(f float64) bool { return !given(f) || f <= 0 })
	for _, k := range paces() {
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
	if isStated && len(fitting) > 0 {
		first := ratioBy(a, b, fitting[0])
		other = slices.DeleteFunc(other, func(k kind) bool {
			return math.Abs(ratioBy(a, b, k)/first-1) <= mixed
		})
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
	unequalSamples(g, say)
	differs(g, numEpochs, "epochs", say)
	wholeEpochs(g, say)
	unequalBatch(g, say)
	return why
}

func fastest(c *court, m []string) ruling { return c.extreme(m[1], true) }

func slowest(c *court, m []string) ruling { return c.extreme(m[1], false) }

// bestOf is fastest where nothing but speed can be meant.
func bestOf(c *court, m []string) ruling {
	if c.t != nil && (c.t.has(accuracy) || c.t.has(loss)) {
		return undecided("the best by time, or by accuracy")
	}
	return fastest(c, m)
}

// extreme judges that a row is faster, or slower, than every other one of its model and data set.
func (c *court) extreme(digit string, isFastest bool) ruling {
	e := c.subject(digit)
	if e == nil {
		return undecided("it names no row")
	}
	group := c.t.groupOf(e)
	if c.isMeant != nil { // "on 2 workers"
		group = slices.DeleteFunc(slices.Clone(group), func(o *entry) bool { return !c.isMeant(o) })
	}
	k, ok := timeOf(group...)
	if !ok || len(group) < 2 {
		return undecided("no time that all rows have")
	}
	others := slices.DeleteFunc(slices.Clone(group), func(o *entry) bool { return o == e })
	word, why := "shortest", ""
	if isFastest {
		why = notFastest(e, group, k)
	} else {
		word = "longest"
		for _, o := range others {
			if why = notFastest(o, []*entry{o, e}, k); why != "" {
				break
			}
		}
	}
	if why != "" {
		return refused("winner", "%s", why)
	}
	basis := ""
	for _, o := range others {
		if why := unequal(e, o); why != "" {
			return refused("unequal work", "%s and %s: %s", e.name, o.name, why)
		}
		one := compare(e, o, k)
		if header := c.t.unreadSpread(k); one.isOne && one.isNear() && header != "" {
			return undecided(unreadColumn, header)
		}
		if one.isOne {
			basis = ", " + one.basis
		}
	}
	return held("its %s is the %s of %d rows%s", k.word(), word, len(group), basis)
}
