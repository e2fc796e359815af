package claim

import (
	"math"
	"regexp"
	"strings"

	"lockstep/app/analysis"
)

// saysSamples is how a sentence tells the samples of an epoch: "50,000 samples per epoch", "50,000 training
// images", "a training set of 50,000 images", "an epoch has 50,000 samples".
var saysSamples = regexp.MustCompile(`(?i)\b(\d[\d,]*\d) (?:training )?(?:samples|images|examples|` +
	`texts) (?:per|an|each|in an|in each|in every|of an|of each) epoch\b|\b(\d[\d,]*\d) training ` +
	`(?:samples|images|examples|texts)\b|\btraining set (?:of|has|with|contains) (\d[\d,]*\d) ` +
	`(?:samples|images|examples|texts)\b|\bepochs? (?:has|have|is|are|of) (\d[\d,]*\d) (?:samples|` +
	`images|examples|texts)\b|\b(?:first|only|just|subset of|limited to|reduced to|train(?:ed|ing)? on|` +
	`use[ds]?) (?:only |just )?(?:the )?(?:first )?(\d[\d,]*\d) (?:of (?:them|these|which|the)|` +
	`(?:training )?(?:samples|images|examples|texts))\b`)

// samplesSaid returns the samples of an epoch that a sentence tells, the fewest of several, as they may be a
// part of a data set; NaN: none.
func samplesSaid(text string) float64 {
	least := math.NaN()
	for _, m := range saysSamples.FindAllStringSubmatch(text, -1) {
		v, _, ok := parseNumber(strings.Join(m[1:], ""))
		if ok && v >= 1 && !(v >= least) {
			least = v
		}
	}
	return least
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
