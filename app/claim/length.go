package claim

import (
	"math"
	"regexp"

	"lockstep/app/analysis"
)

// saysSamples is how a sentence tells the samples of an epoch.
var saysSamples = regexp.MustCompile(`(?i)\b(\d[\d,]*\d) (?:training )?(?:samples|images|examples|` +
	`texts) (?:per|an|each|in an|in each|in every|of an|of each) epoch\b|\b(\d[\d,]*\d) training ` +
	`(?:samples|images|examples|texts)\b|\btraining set (?:of|has|with|contains) (\d[\d,]*\d) ` +
	`(?:samples|images|examples|texts)\b|\bepochs? (?:has|have|is|are|of) (\d[\d,]*\d) (?:samples|` +
	`images|examples|texts)\b`)

// samplesSaid returns the samples of an epoch that a sentence tells; NaN: none.
func samplesSaid(text string) float64 {
	m := saysSamples.FindStringSubmatch(text)
	if m == nil {
		return math.NaN()
	}
	v, _, ok := parseNumber(m[1] + m[2] + m[3] + m[4])
	if !ok || v < 1 {
		return math.NaN()
	}
	return v
}

// stepsInEpoch objects to an epoch that is shorter than its steps, one after another.
func stepsInEpoch(e *entry, say sayer) {
	n, b, s, whole := e.epochSamples(), e.batch(), e.value(step), e.value(epoch)
	all := n / b * s
	limit := 1 + max(analysis.NoiseLimit, noise(e))
	if !given(all) || !given(whole) || !e.isSynchronous() || all <= whole*limit {
		return
	}
	if each := all / e.workers() / whole; !e.table.has(batchPer) && each <= limit && each >= 1/limit {
		say(Noted, e.name, "%s samples / %s × %s is the epoch of %s only if the batch is that of each worker",
			num(n), num(b), seconds(s), seconds(whole))
		return
	}
	if v := e.value(total); all <= v*limit && !given(e.value(epochs)) && !given(e.table.facts.samples) {
		return // samples of the whole run
	}
	say(Refused, e.name, "%s samples / %s × %s = %s of steps in an epoch of %s", num(n), num(b), seconds(s),
		seconds(all), seconds(whole))
}

// epochSamples returns the samples of an epoch: as the text says, or those of the row over its epochs; the
// fewer, as the text may tell of a whole data set.
func (e *entry) epochSamples() float64 {
	n, said := e.value(samples), e.table.facts.samples
	if v := e.value(epochs); v > 1 {
		n /= v
	}
	if !given(n) || said < n {
		return said
	}
	return n
}
