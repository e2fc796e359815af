package claim

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"lockstep/app/analysis"
)

// Parts of sentences about what changes from one row to another. someTime has one group: what kind of time it
// is. going has three: the row or the number of workers that it goes from, and the row that it goes to. ratio
// has two, one of which is empty.
const (
	someTime = `(?:the |our )?((?:(?:total|training|wall|clock|step|epoch|iteration|run|overall) )*` +
		`(?:time|runtime|duration)|step|epoch|iteration)`
	falls = `(?:falls|fell|drops|dropped|decreases|decreased|shrinks|shrank|goes down|went down|is reduced|` +
		`was reduced|is cut|was cut|declined|declines|improves|improved)`
	moves = `(?:` + falls + `|goes|went|changes|changed)`
	going = `(?:when |by )?(?:going|scaling|moving|increasing|changing) from ` +
		`(?:§(\d)|(\d+|one)(?: workers?)?) ` +
		`to §(\d)`
	get   = `(?:gets?|got|have|had|sees?|saw|reach(?:es|ed)?|obtain(?:s|ed)?|achieved?|measured?|observed?)`
	ratio = `(?:an? )?(?:speedup of ` + about + figure + `x?|` + about + figure + `x speedup)`
	ways  = `(?:the )?(?:\d+ )?(?:strategies|rows|runs|configurations|methods|models|setups|algorithms|` +
		`variants)`
	equally = `(?:the |an? )?(?:same|equal|identical|comparable)`
	remains = `(?:is|was|are|were|stays|stayed|remains|remained)`
)

// changing lists sentences about what changes from row to row, and about all rows.
func changing() []form {
	return []form{
		{"with ddp we got a speed-up of 1.8 over solo",
			`^§(\d) (?:we|one) ` + get + ` ` + ratio + against + `$`, speedupHad},
		{"all strategies reach the same accuracy",
			`^(?:all|both) (?:of )?` + ways + ` (?:all )?` + give + ` ` + equally + ` ` + quality +
				`accuracy(?: of ` + about + figure + `%)?$`, allAccurate},
		{"the accuracy is the same for all strategies",
			`^(?:the )?` + quality + `accuracy ` + remains + ` ` + equally + ` (?:for|in|across|with|of|` +
				`over) (?:all|both) ` + ways + `$`, allAccurate},
		{"ddp scales well", `^§(\d) scale[sd]? (?:very |quite |really )?well$`, well},
		{"the step time drops from 20 ms to 12 ms",
			`^(?:§(\d) )?` + someTime + ` ` + moves + ` from ` + length + ` to ` + length + `$`, wentFromTo},
		{"the step time of ddp drops from 20 ms to 12 ms",
			`^` + someTime + ` ` + of + `§(\d) ` + moves + ` from ` + length + ` to ` + length + `$`,
			inOrder(wentFromTo, 2, 1, 3, 4)},
		{"the step time drops from 20 ms to 12 ms with ddp",
			`^` + someTime + ` ` + moves + ` from ` + length + ` to ` + length + ` ` + of + `§(\d)$`,
			inOrder(wentFromTo, 4, 1, 2, 3)},
		{"ddp reduces the step time from 20 ms to 12 ms",
			`^§(\d) (?:` + lowers + `|brings|brought) ` + someTime + ` from ` + length + ` to ` +
				length + `$`, wentFromTo},
		{"going from 1 to 4 workers the step time falls by 60%",
			`^` + going + ` ` + someTime + ` ` + falls + ` by ` + about + figure + `%$`, goingPercent},
		{"the step time falls by 60% when going from 1 to 4 workers",
			`^` + someTime + ` ` + falls + ` by ` + about + figure + `% ` + going + `$`,
			inOrder(goingPercent, 3, 4, 5, 1, 2)},
		{"going from 1 to 4 workers the step time drops from 20 ms to 8 ms",
			`^` + going + ` ` + someTime + ` ` + moves + ` from ` + length + ` to ` + length + `$`,
			goingFromTo},
		{"going from 1 to 4 workers we get a speed-up of 2.5",
			`^` + going + ` (?:we )?(?:` + give + `|` + get + `|is) ` + ratio + `$`, goingSpeedup},
		{"going from 1 to 4 workers is 2.5x faster",
			`^` + going + ` is ` + about + figure + `x (?:faster|as fast)$`, goingSpeedup},
		{"with ddp the step time falls by 40%",
			`^§(\d) ` + someTime + ` ` + falls + ` by ` + about + figure + `%$`, inOrder(percentLess, 1, 3)},
	}
}

// speedupHad judges a speed-up whose figure stands behind the word, or before it.
func speedupHad(c *court, m []string) ruling {
	return timesFaster(c, []string{m[0], m[1], m[2] + m[3], m[4]})
}

// allAccurate judges that no two rows differ in accuracy, and that it is that of the sentence if it has one.
func allAccurate(c *court, m []string) ruling {
	if c.t == nil || len(c.t.measured) > maxPairs {
		return undecided("no table of accuracies, or too many rows to compare each with each")
	}
	var known []*entry
	var without, shown []string
	for _, e := range c.t.measured {
		if !given(e.value(accuracy)) {
			without = append(without, e.name)
			continue
		}
		known, shown = append(known, e), append(shown, e.name+" "+e.shown(accuracy))
		if text := group(m, 1); text != "" {
			v, half := amount(text)
			if !(math.Abs(e.value(accuracy)-v/100) <= half/100+e.cell(accuracy).half+1e-9) {
				return refusedUntil("accuracy", "the accuracy that the table has", "the accuracy of %s is %s",
					e.name, e.shown(accuracy))
			}
		}
	}
	if len(known) < 2 {
		return undecided("no accuracies of two rows")
	}
	most, bits := math.NaN(), "" // of the pairs without equal parameters, and of the others
	for i, a := range known {
		for _, b := range known[:i] {
			both, _ := compareAccuracy(b, a)
			if r := same(both); r.verdict != Holds {
				return r
			}
			if bits = both.bits; bits == "" && !(most > both.sameP()) {
				most = both.sameP()
			}
		}
	}
	switch {
	case without != nil:
		return undecided("no accuracy of %s", list(without))
	case !given(most):
		return held("%s: the parameters are the same, %s", list(shown), bits)
	}
	return held("%s: each two within %s points (two one-sided tests, p = %.2g at most)", list(shown),
		num(100*analysis.SameAccuracy), most)
}

// well judges that a row scales well: by no more than what the word "linear" asks for, and not by less than
// half of it. Between them nobody knows what "well" means.
func well(c *court, m []string) ruling {
	e := c.subject(m[1])
	if e == nil || c.t.base == nil || e == c.t.base {
		return undecided("no row to compare with")
	}
	s, p := e.soundSpeedup(c.t.base).value, e.processors()/c.t.base.processors()
	switch {
	case !(p > 1) || !given(s):
		return undecided("no speed-up of %s at more workers", e.name)
	case s/p < 0.5:
		return refused("wrong denominators", "%s is %s× at %s times the processors, %s of linear: most of "+
			"what was added is lost", e.name, num(s), num(p), percent(s/p))
	case s/p < 1-analysis.NoiseLimit:
		return undecided("%s is %s× at %s times the processors, %s of linear; give that figure, \"well\" "+
			"is none", e.name, num(s), num(p), percent(s/p))
	}
	return held("%s is %s× at %s times the processors, %s of linear", e.name, num(s), num(p), percent(s/p))
}

// theSpeedup judges a speed-up that is said to be the one: some row has it, or it is their mean.
func theSpeedup(c *court, m []string) ruling {
	r := onlySpeedup(c, m)
	if r.verdict != NotChecked || !c.isOnly() || c.t.base == nil || len(c.t.measured) > maxPairs {
		return r
	}
	var all []string
	sum, n := 0.0, 0.0
	for _, e := range c.t.measured {
		if s := e.soundSpeedup(c.t.base).value; e != c.t.base && given(s) {
			all, sum, n = append(all, num(s)), sum+s, n+1
		}
	}
	if v, half := amount(m[1]); n == 0 || math.Abs(sum/n-v) <= half+mixed*v {
		return r
	}
	return refused("wrong denominators", "no row has it: the speed-ups are %s, over %s", list(all),
		c.t.base.name)
}

// from returns the row from which a sentence goes to another one: the one it names, or that of so many
// workers, of the same strategy if there are several; nil: none.
func (c *court) from(digit, number string, to *entry) *entry {
	if digit != "" || to == nil {
		return c.subject(digit)
	}
	var all []*entry
	for _, e := range c.t.measured {
		if num(e.workers()) == strings.Replace(number, "one", "1", 1) && e != to {
			all = append(all, e)
		}
	}
	if len(all) > 1 {
		all = slices.DeleteFunc(all, func(e *entry) bool { return e.text(strategy) != to.text(strategy) })
	}
	if len(all) != 1 {
		return nil
	}
	return all[0]
}

// goingPercent judges by how many percent the time of a row is less than that of the row before it.
func goingPercent(c *court, m []string) ruling {
	to := c.subject(m[3])
	return c.less(to, c.from(m[1], m[2], to), m[5])
}

// goingSpeedup judges how many times as fast a row is as the row before it.
func goingSpeedup(c *court, m []string) ruling {
	to := c.subject(m[3])
	v, half := amount(m[4] + group(m, 5))
	return c.speed(to, c.from(m[1], m[2], to), []float64{v}, half)
}

// goingFromTo judges the times of two rows.
func goingFromTo(c *court, m []string) ruling {
	to := c.subject(m[3])
	from := c.from(m[1], m[2], to)
	if to == nil || from == nil {
		return undecided("no two rows to compare")
	}
	return c.between([]*entry{from}, []*entry{to}, m[4:7])
}

// wentFromTo judges that a time went from that of some row to that of the row that a sentence names, or of
// another one.
func wentFromTo(c *court, m []string) ruling {
	if c.t == nil {
		return undecided("no table of times")
	}
	first, _ := lengthOf(m[3])
	second, _ := lengthOf(m[4])
	if why := turned(c.words, first, second); why != "" {
		return refused("wrong denominators", "%s", why)
	}
	if to := c.subject(m[1]); to != nil {
		return c.between(c.t.measured, []*entry{to}, m[2:5])
	}
	if !c.isOnly() {
		return undecided("it names no row")
	}
	return c.between(c.t.measured, c.t.measured, m[2:5])
}

// Words by which a figure goes up, and down.
var (
	upwards = regexp.MustCompile(`\b(?:ris(?:es|e)|rose|increase[sd]?|grows|grew|goes up|went up|` +
		`climb(?:s|ed)|raise[sd]?|lift(?:s|ed))\b`)
	downwards = regexp.MustCompile(`\b(?:falls|fell|drop(?:s|ped)|decrease[sd]?|shrinks|shrank|goes down|` +
		`went down|reduce[sd]?|cuts?|decline[sd]?|lower(?:s|ed)|shorten(?:s|ed))\b`)
)

// turned says that a figure goes the other way than words have it; "": it does not.
func turned(words string, first, second float64) string {
	switch {
	case upwards.MatchString(words) && second < first:
		return "the second figure is the smaller one"
	case downwards.MatchString(words) && second > first:
		return "the second figure is the larger one"
	}
	return ""
}

// between judges that one of some rows has the first of two times, and one of others the second; said is what
// kind of time it is, and the two.
func (c *court) between(from, to []*entry, said []string) ruling {
	v1, half1 := lengthOf(said[1])
	v2, half2 := lengthOf(said[2])
	having := func(all []*entry, k kind, v, half float64) (out []*entry) {
		for _, e := range all {
			if got := e.cell(k); math.Abs(got.value-v) <= half+got.half+slack*v {
				out = append(out, e)
			}
		}
		return out
	}
	for _, k := range timesCalled(said[0]) {
		first := having(from, k, v1, half1)
		for _, b := range having(to, k, v2, half2) {
			for _, a := range first {
				if a == b {
					continue
				}
				if v1 < v2 {
					a, b = b, a
				}
				return c.speed(b, a, nil, 0)
			}
		}
	}
	var all []string
	for _, k := range timesCalled(said[0]) {
		for _, e := range to {
			switch {
			case !given(e.cell(k).value):
			case len(all) < maxPairs:
				all = append(all, e.name+" "+e.figure(k))
			default:
				all = append(all, "") // which list counts and does not show
			}
		}
	}
	if all == nil {
		return undecided("no such time in the table")
	}
	return refused("wrong denominators", "no two rows have these times: %s", list(all))
}

// stepWords and epochWords are kinds of time as sentences call them.
var (
	stepWords  = regexp.MustCompile(`\b(step|iteration)\b`)
	epochWords = regexp.MustCompile(`\bepoch\b`)
)

// timesCalled returns the kinds of time that words before "time" may mean.
func timesCalled(words string) []kind {
	switch {
	case stepWords.MatchString(words):
		return []kind{step}
	case epochWords.MatchString(words):
		return []kind{epoch}
	}
	return times()
}

// less judges that the times of one row are so many percent less than those of another.
func (c *court) less(a, b *entry, percentage string) ruling {
	v, half := amount(percentage)
	left := 1 - v/100
	if left <= 0 {
		return refused("wrong denominators", "no time is %s %% shorter", percentage)
	}
	return c.speed(a, b, []float64{1 / left}, half/100/left/left)
}
