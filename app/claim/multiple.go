package claim

import (
	"math"
	"regexp"
	"slices"
)

// room is the words by which a multiple is not meant exactly.
const room = `(?:(?:about|roughly|nearly|almost|approximately|more than|over) )?`

// multipleForms lists sentences that tell a multiple by a word, or samples per second and what they were.
func multipleForms() []form {
	return []form{
		{"ddp halves the step time of solo",
			`^§(\d) ` + room + `(halve)[sd] the (?:step |epoch |total |training )?time(?: of §(\d))?$`,
			multiplies},
		{"ddp cuts the step time in half",
			`^§(\d) ` + lowers + ` the (?:step |epoch |total |training |time )+?(?:in|by) ` + room +
				`(half)` + against + `$`, multiplies},
		{"ddp nearly doubles the throughput of solo",
			`^§(\d) ` + room + `(double|triple|quadruple)[sd] the (?:training )?(?:throughput|speed|` +
				samplesIn + `)(?: of §(\d))?$`, multiplies},
		{"the throughput rises from 640 to 2100 samples/s with ddp",
			`^(?:the )?throughput ` + rises + ` from ` + rates + ` ` + of + `§(\d)$`,
			inOrder(rateFromTo, 3, 1, 2)},
		{"with ddp the throughput rises from 640 to 2100 samples/s",
			`^§(\d) (?:the )?throughput ` + rises + ` from ` + rates + `$`, rateFromTo},
		{"ddp increases the throughput from 640 to 2100 samples/s",
			`^§(\d) (?:increases?|increased|raises?|raised|improves?|improved|brings|brought|lifts?|` +
				`lifted) (?:the )?throughput from ` + rates + `$`, rateFromTo},
		{"ddp takes 12 ms a step and ps 8 ms",
			`^§(\d) ` + takesIt + ` ` + about + length + ` (?:a|per|for a|for each) (step|epoch) ?(?:and|` +
				`while|whereas|but|against|compared to|versus)? ?§(\d) (?:` + takesIt + ` )?` + about +
				length + `$`, bothLengths},
		{"we measured 12 ms a step with ddp",
			`^(?:(?:we |i )?(?:measured|observed|saw|got|had) )?` + about + length + ` (?:a|per|for a|` +
				`for each) (step|epoch) ` + of + `§(\d)$`, oneLength},
		{"ddp and ps are equally fast",
			`^§(\d) and §(\d) ` + is + ` (?:about |roughly |nearly )?(?:equally|as|just as|similarly) ` +
				`fast$`, equallyFast},
	}
}

// Parts of sentences about samples per second.
const (
	rises = `(?:rises|rose|increases|increased|grows|grew|goes up|went up|climbs|climbed|improves|improved|` +
		`goes|went|falls|fell|drops|dropped|decreases|decreased)`
	rates = about + figure + `(?: ` + samplesIn + `)? to ` + about + figure + ` ` + samplesIn
)

// multiple is the factors that words tell.
var multiple = map[string]float64{"halve": 2, "half": 2, "double": 2, "triple": 3, "quadruple": 4}

// beyond are words for more than a multiple.
var beyond = regexp.MustCompile(`\b(more than|over) (halve|half|double|triple|quadruple)`)

// multiplies judges that a row is so many times as fast as another one as a word says, within 2.5 %.
func multiplies(c *court, m []string) ruling {
	factor, isOfTime := multiple[m[2]], m[2] == "halve" || m[2] == "half"
	a, b := c.pair(m[1], group(m, 3))
	factors, half := []float64{factor}, 0.025*factor
	switch {
	case a == nil || b == nil || a == b:
		return undecided("no two rows to compare")
	case isOfTime && isWeak(a, b):
		return undecided("the work of %s and %s is not the same", a.name, b.name)
	case beyond.MatchString(c.words):
		for _, k := range paces() {
			if r := ratioBy(a, b, k); given(r) && r <= factor {
				return refused("wrong denominators", "%s", fasterText(a, b, k))
			}
		}
		return c.speed(a, b, nil, 0)
	case almost.MatchString(c.words):
		factors = append(factors, 0.93*factor)
	case roundly.MatchString(c.words):
		factors, half = []float64{factor, 0.95 * factor, 1.05 * factor}, loosest*factor // 10 % either way
	}
	return c.speed(a, b, factors, half)
}

// improves are words by which samples per second rise, and times fall.
var improves = regexp.MustCompile(`\bimprove[sd]?\b`)

// rateFromTo judges that a row has the second of two rates, in samples per second, and another one the first.
func rateFromTo(c *court, m []string) ruling {
	to := rateIs(c, []string{m[0], m[1], m[3]})
	if to.verdict != Holds {
		return to
	}
	v, half := amount(m[2])
	half = leeway(v, half)
	if roundly.MatchString(c.words) {
		half = 2 * loosest * v
	}
	second, _ := amount(m[3])
	if why := turned(improves.ReplaceAllString(c.words, "rises"), v, second); why != "" {
		return refused("wrong denominators", "%s", why)
	}
	a := c.subject(m[1])
	for _, b := range c.t.measured {
		rate := b.rate()
		switch {
		case b == a || !(math.Abs(rate-v) <= half+2*slack*rate):
		case v < second:
			return c.speed(a, b, nil, 0)
		default:
			return c.speed(b, a, nil, 0)
		}
	}
	return refused("wrong denominators", "no other row has %s samples/s", m[2])
}

// rate returns the samples that a row trains on in a second, by its table or batch by step; NaN if not given.
func (e *entry) rate() float64 {
	if v := e.value(throughput); given(v) {
		return v
	}
	return e.batch() / e.value(step)
}

// bothLengths judges a time of one row and the same of another.
func bothLengths(c *court, m []string) ruling {
	k := timesCalled(m[3])[0]
	first := c.isLength(m[1], m[2], k)
	if first.verdict != Holds {
		return first
	}
	second := c.isLength(m[4], m[5], k)
	second.why = first.why + "; " + second.why
	return second
}

// oneLength judges the time of a step or of an epoch of a row.
func oneLength(c *court, m []string) ruling { return c.isLength(m[3], m[1], timesCalled(m[2])[0]) }

// mostApart is how far apart, as a factor, rows may be that are said to be equally fast.
const mostApart = 1.05

// equallyFast judges that neither of two rows is faster by more than rounding may hide, by any kind of time.
func equallyFast(c *court, m []string) ruling {
	a, b := c.pair(m[1], m[2])
	if a == nil || b == nil || a == b {
		return undecided("no two rows to compare")
	}
	if why := unequal(a, b); why != "" {
		return refused("unequal work", "%s", why)
	}
	if isWeak(a, b) {
		return undecided("the work of %s and %s is not the same", a.name, b.name)
	}
	var known []kind
	for _, k := range paces() {
		r := ratioBy(a, b, k)
		switch {
		case !given(r):
		case r > mostApart || 1/r > mostApart:
			return refused("wrong denominators", "%s", fasterText(a, b, k))
		default:
			known = append(known, k)
		}
	}
	if len(known) == 0 {
		return undecided("no time of both rows")
	}
	areApart := func(k kind) bool { e := compare(a, b, k); return !e.isOne && e.mayBeApart(e.p) }
	if i := slices.IndexFunc(known, areApart); i >= 0 {
		return refused("winner", "the runs tell them apart: %s", fasterText(a, b, known[i]))
	}
	return held("%s, within 5 %%", fasterText(a, b, known[0]))
}
