package claim

import (
	"math"
	"regexp"
)

// loosest is how far a figure may be off for being rounded: "2x" is not said of 1.6, with whatever digits.
const loosest = 0.05

// usual is half a unit of the last digit with which figures of a kind are commonly written, however
// small they are: a decimal of a speed-up, a whole percent, a cent.
func (k kind) usual() float64 {
	switch k {
	case speedup, amdahl, gustafson:
		return 0.05
	case efficiency, cost:
		return 0.005
	}
	return 0
}

// derived returns a figure that others of its row give, with as much room for rounding as such a one has.
func (c cell) derived(k kind) cell {
	c.half = min(c.half, max(loosest*math.Abs(c.value), k.usual()))
	return c
}

// coarse notes a figure whose few digits hide how far it is from what it is made of.
func coarse(e *entry, k kind, what string, v float64, say sayer) {
	c := e.cell(k)
	if c.half > c.derived(k).half && math.Abs(v-c.value) > 2*slack*math.Abs(v) {
		say(Noted, e.name, "%s %s rounds %s, which a digit more would show", what, num(c.value), num(v))
	}
}

// roundly are words of a sentence by which a time is meant less exactly than its digits have it.
var roundly = regexp.MustCompile(`\b(?:about|roughly|nearly|almost|approximately|around)\b`)

// leeway is how far a sentence's figure may be off for being rounded. half is half a unit of its last
// digit.
func leeway(v, half float64) float64 { return min(half, loosest*math.Abs(v)) }

// isNear judges a figure of a row that a sentence gives, with so much leeway for its rounding. What only few
// digits of the table leave open is not decided.
func isNear(e *entry, k kind, v, leeway float64) ruling {
	got := e.cell(k)
	if isBare := got.unit == "" && e.table.columns[e.table.column(k)].unit == 0; isBare && k == step &&
		math.Abs(got.value/v/1e3-1) <= slack+leeway/v {
		v, leeway = 1e3*v, 1e3*leeway // the table does not say that its times are milliseconds
	}
	off := math.Abs(got.value-v) - leeway - slack*math.Abs(v)
	switch {
	case !(off <= got.half):
		return refused("wrong denominators", "the %s of %s is %s", k.word(), e.name, e.figure(k))
	case off > loosest*math.Abs(got.value):
		return undecided("the table has too few digits: the %s of %s is %s", k.word(), e.name, e.figure(k))
	}
	return held("the %s of %s is %s", k.word(), e.name, e.figure(k))
}
