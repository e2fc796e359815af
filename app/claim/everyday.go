package claim

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// Parts of sentences as people write them in reports.
const (
	length = `((?:\d+(?:\.\d+)? ?(?:h|hrs?|hours?|m|mins?|minutes?|s|secs?|seconds?|ms|msec|milliseconds?)` +
		`\b(?: and)? ?)+)(?: ?(?:±|\+ -|\+-) ?\d+(?:\.\d+)? ?(?:ms|s|%)?)?` // with a deviation
	against = `(?: (?:than|over|compared to|compared with|against|relative to|versus|vs\.?) ` +
		`(?:§(\d)|(?:the )?` +
		`baseline))?`
	of       = `(?:(?:of|with|for|in|at|by|using|under) )?(?:the )?`
	takesIt  = `(?:takes|took|needs|needed|requires|required|has|had)`
	mean     = `(?:average |mean |median )?`
	quality  = `(?:(?:final|test|validation|top 1|overall) )*`
	exchange = `(?:the )?(?:gradient )?(?:communication|synchroni[sz]ation|exchange|network)` +
		`(?: time| overhead)?`
	reason  = `\b(?:because|due to|caused by|owing to|thanks to|as a result of|explained by|attributed to)\b`
	account = `(?:accounts? for|accounted for|makes? up|made up|is|was|takes?|took|takes? up)`
	whole   = `of (?:the |its |each |a |every )?(?:total |whole |overall )?` +
		`(?:step time|step|time|iteration time|` +
		`iteration|training time|runtime)`
	samplesIn = `(?:samples|images|img|imgs|examples|sequences) ?(?:per |a )?(?:s|sec|second)`
	lowers    = `(?:reduces?|reduced|cuts?|shortens?|shortened|decreases?|decreased|lowers?|lowered)`
	changes   = `(?:dropped|drops|fell|falls|decreased|decreases|declined|declines|went down|rose|rises|` +
		`is|was|` +
		`reached|reaches|stays|stayed)`
)

// everyday lists the sentences that people write beside their tables.
func everyday() []form {
	return slices.Concat(timeForms(), efficiencyForms(), exchangeForms(), savingForms(), figureForms())
}

// timeForms lists sentences that tell the time of a step, an epoch or a whole training.
func timeForms() []form {
	return []form{
		{"the mean step time of ddp is 12 ms",
			`^(?:a |the |each |one )?` + mean + `(?:step|iteration)(?: time)? ` + of +
				`§(\d) (?:is|was|takes|took|lasts|lasted) ` + about + length + `$`, lengthIs(step)},
		{"ddp takes 12 ms per step",
			`^§(\d) ` + takesIt + ` ` + about + length + ` (?:a|per|for a|for each|for one|each|in each) ` +
				`(?:training )?(?:step|iteration)$`, lengthIs(step)},
		{"ddp has a mean step time of 12 ms",
			`^§(\d) ` + takesIt + ` an? ` + mean + `(?:step|iteration) time of ` + about + length + `$`,
			lengthIs(step)},
		{"an epoch of ddp takes 2 min",
			`^(?:a |the |each |one |an )?` + mean + `epoch(?: time)? ` + of + `§(\d) (?:is|was|takes|` +
				`took|lasts|lasted) ` + about + length + `$`, lengthIs(epoch)},
		{"ddp takes 2 min per epoch",
			`^§(\d) ` + takesIt + ` ` + about + length + ` (?:a|an|per|for an|for each|for one|each) ` +
				`epoch$`, lengthIs(epoch)},
		{"a step takes 12 ms with ddp",
			`^(?:a |one |each |the )?(?:step|iteration) (?:takes|took|lasts|lasted) ` + about + length +
				` ` + of + `§(\d)$`, inOrder(lengthIs(step), 2, 1)},
		{"an epoch takes 2 min with ddp",
			`^(?:an |one |each |the )?epoch (?:takes|took|lasts|lasted) ` + about + length + ` ` + of +
				`§(\d)$`, inOrder(lengthIs(epoch), 2, 1)},
		{"training takes 2 min per epoch with ddp",
			`^training (?:takes|took) ` + about + length + ` (?:per|an|for each|each) epoch (?:on |with |` +
				`for )?(?:a )?§(\d)$`, inOrder(lengthIs(epoch), 2, 1)},
		{"ddp saves 3 ms per step compared to solo",
			`^§(\d) (?:saves|saved) ` + about + length + ` (?:per|a|an|in each|each) (step|iteration|` +
				`epoch)` + against + `$`, saves},
		{"the overhead of ps is 30% over ddp",
			`^(?:the )?overhead of §(\d) (?:is|was) ` + about + figure + `%` + against + `$`, percentSlower},
		{"the total training time of ddp is 2 h for 10 epochs",
			`^(?:the )?(?:total |overall |whole )?(?:training time|training|time|runtime|duration) ` + of +
				`§(\d) (?:is|was|takes|took) ` + about + length + `(?: for (\d+) epochs)?$`, totalIs},
		{"ddp took 2 h for 10 epochs",
			`^§(\d) (?:takes|took|needed|needs|ran for|finished in|finishes in|completed in|trains in|` +
				`trained in) ` + about + length + ` for (\d+) epochs$`, totalIs},
		{"ddp finishes 10 epochs in 2 h",
			`^§(\d) (?:finishes|finished|completes|completed|runs|ran|trains|trained) (?:(\d+) epochs ` +
				`)?in ` + about + length + `$`, inOrder(totalIs, 1, 3, 2)},
	}
}

// efficiencyForms lists sentences that tell an efficiency, of some row or of none.
func efficiencyForms() []form {
	return []form{
		{"the efficiency drops to 80% with ps",
			`^(?:the )?(?:scaling |parallel )?efficiency ` + changes + `(?: to| at)? ` + about + figure +
				`% ` + of + `§(\d)$`, inOrder(efficient, 2, 1)},
		{"with ps the efficiency drops to 80%",
			`^§(\d) (?:the )?(?:scaling |parallel )?efficiency ` + changes + `(?: to| at)? ` + about +
				figure + `%$`, efficient},
		{"ps has a parallel efficiency of 80%",
			`^§(\d) ` + give + ` an? (?:scaling|parallel) efficiency of ` + about + figure + `%$`, efficient},
		{"ddp scales at 80% efficiency",
			`^§(\d) (?:scale[sd]?|runs|ran|works|worked|trains|trained) (?:at|with) (?:an? )?` + about +
				figure + `% (?:scaling |parallel )?efficiency$`, efficient},
		{"ddp reaches 80% scaling efficiency",
			`^§(\d) ` + give + ` ` + about + figure + `% (?:scaling |parallel )?efficiency$`, efficient},
		{"the efficiency drops to 80%",
			`^(?:the )?(?:scaling |parallel )?efficiency ` + changes + `(?: to| at)? ` + about + figure +
				`%$`, someEfficiency},
	}
}

// exchangeForms lists sentences that tell the share of communication.
func exchangeForms() []form {
	return []form{
		{"communication takes 30% of the step time with ps",
			`^` + exchange + ` ` + account + ` ` + about + figure + `% ` + whole + ` ` + of + `§(\d)$`,
			inOrder(exchangeOf, 2, 1)},
		{"in ps communication takes 30% of the step time",
			`^(?:in |for )?§(\d) ` + exchange + ` ` + account + ` ` + about + figure + `% ` + whole + `$`,
			exchangeOf},
		{"ps spends 30% of its time on communication",
			`^§(\d) (?:spends|spent) ` + about + figure + `% ` + whole + ` (?:on|in|for|with|waiting ` +
				`for) ` + exchange + `$`, exchangeOf},
		{"the network costs ps 30% of the step time",
			`^` + exchange + ` costs? §(\d) ` + about + figure + `% ` + whole + `$`, exchangeOf},
		{"communication takes 30% of the step time",
			`^` + exchange + ` ` + account + ` ` + about + figure + `% ` + whole + `$`, someExchange},
	}
}

// savingForms lists sentences about the time of a row beside that of another one.
func savingForms() []form {
	return []form{
		{"ddp reduces the step time by 40%",
			`^§(\d) ` + lowers + ` (?:the )?(?:step |epoch |training |total |iteration )?(?:time|` +
				`runtime) by ` + about + figure + `%` + against + `$`, percentLess},
		{"ddp takes 40% less time than solo",
			`^§(\d) (?:takes|took|needs|needed|requires|required) ` + about + figure + `% less ` +
				`(?:step |epoch |training |total |iteration )?time` + against + `$`, percentLess},
		{"the step of ddp takes 40% less time than that of solo",
			`^(?:the |a )?` + mean + `(?:step|iteration) ` + of + `§(\d) (?:takes|took|needs|needed) ` +
				about + figure + `% less time(?: than (?:that|the step|one) of §(\d))?$`, percentLess},
		{"ddp's step takes 40% less time than that of solo",
			`^§(\d)(?:'s)? (?:step|iteration) (?:takes|took|needs|needed) ` + about + figure + `% less time` +
				`(?: than (?:that of )?§(\d)(?: step)?)?$`, percentLess},
		{"ddp reduces the step time by a factor of 1.8",
			`^§(\d) ` + lowers + ` (?:the )?(?:step |epoch |training |total |iteration )?(?:time|` +
				`runtime) by a factor of ` + about + figure + against + `$`, timesFaster},
		{"ddp is 3 ms faster than solo",
			`^§(\d) ` + is + ` ` + about + length + ` (faster|shorter|slower|longer)` + against + `$`,
			timeApart},
		{"ddp is 1.8x faster compared to solo",
			`^§(\d) ` + is + ` ` + about + figure + `x (?:faster|as fast as)` + against + `$`, timesFaster},
		{"ddp is 80% faster compared to solo",
			`^§(\d) ` + is + ` ` + about + figure + `% faster` + against + `$`, percentFaster},
	}
}

// figureForms lists sentences that tell samples per second, accuracies and speed-ups.
func figureForms() []form {
	return []form{
		{"the throughput of ddp is 900 samples/s",
			`^(?:the |a )?(?:throughput|speed) ` + of + `§(\d) (?:is|was|reached) ` + about + figure + ` ` +
				samplesIn + `$`, rateIs},
		{"ddp processes 900 images per second",
			`^§(\d) (?:reach(?:es|ed)?|achieves?d?|process(?:es|ed)|trains?|trained|has|had) (?:a ` +
				`throughput of )?` + about + figure + ` ` + samplesIn + `$`, rateIs},
		{"the test accuracy of ddp is 91%",
			`^(?:the )?` + quality + `accuracy ` + of + `§(\d) (?:is|was|reached|reaches) ` + about +
				figure + `%$`, accuracyIs},
		{"ddp reaches an accuracy of 91%",
			`^§(\d) ` + give + ` (?:an? )?` + quality + `accuracy of ` + about + figure + `%$`, accuracyIs},
		{"ddp reaches 91% test accuracy",
			`^§(\d) ` + give + ` ` + about + figure + `% ` + quality + `accuracy$`, accuracyIs},
		{"a 1.8x speed-up with ddp over solo",
			`^(?:an? |the )?(?:speedup of ` + about + figure + `x?|` + figure + `x speedup) ` + of +
				`§(\d)` + against + `$`, speedupOf},
		{"ddp gives a 1.8x speed-up over solo",
			`^§(\d) ` + give + ` (?:an? )?` + about + figure + `x speedup` + against + `$`, timesFaster},
		{"a maximum speed-up of 1.8x was observed",
			`^(?:an? |the )?(?:maximum |best |total |overall )?(?:speedup of ` + about + figure + `x?|` +
				figure + `x speedup)(?: (?:is|was) (?:observed|measured|achieved|reached))?$`, someSpeedup},
	}
}

// part is a number of a length of time with its unit.
var part = regexp.MustCompile(`(\d+(?:\.\d+)?) ?([a-z]+)`)

// lengthOf reads a length of time such as "2h 13m", and half a unit of its last part, in seconds.
func lengthOf(text string) (v, half float64) {
	for _, m := range part.FindAllStringSubmatch(text, -1) {
		unit := m[2]
		if unit == "m" {
			unit = "min"
		}
		n, half1 := amount(m[1])
		v, half = v+n*secondsIn(unit), half1*secondsIn(unit)
	}
	return v, half
}

// isLength judges that a row has a time of some kind.
func (c *court) isLength(digit, text string, k kind) ruling {
	e := c.subject(digit)
	if e == nil || !given(e.value(k)) {
		return undecided("no %s of the row that it names", k.word())
	}
	header := e.table.columns[e.table.column(k)].header
	if c.isOtherAverage(header) {
		return undecided("%q is another average than the sentence has", header)
	}
	v, half := lengthOf(text)
	if roundly.MatchString(c.words) {
		return isNear(e, k, v, min(half, 2*loosest*v))
	}
	return isNear(e, k, v, leeway(v, half))
}

// isOtherAverage reports whether a heading says median and the sentence mean, or the other way round.
func (c *court) isOtherAverage(header string) bool {
	means := []string{"mean", "average", "avg"}
	return c.isOther(header, "median", means...) ||
		slices.ContainsFunc(means, func(word string) bool { return c.isOther(header, word, "median") })
}

// isOther reports whether a heading has a word in place of which the sentence has one of others.
func (c *court) isOther(header, word string, others ...string) bool {
	return strings.Contains(strings.ToLower(header), word) &&
		slices.ContainsFunc(others, func(o string) bool { return strings.Contains(c.words, o) })
}

// lengthIs returns the judge of a row and a time of some kind that it is said to have.
func lengthIs(k kind) judge {
	return func(c *court, m []string) ruling { return c.isLength(m[1], m[2], k) }
}

// saves judges by how much a time of a row is shorter than that of another one.
func saves(c *court, m []string) ruling {
	return c.apartBy(timesCalled(m[3]), []string{m[0], m[1], m[2], "faster", group(m, 4)})
}

// totalIs judges the time of a whole training, of as many epochs as the sentence says.
func totalIs(c *court, m []string) ruling {
	digit, text, numEpochs := m[1], m[2], group(m, 3)
	e := c.subject(digit)
	n, _ := amount(numEpochs)
	if e != nil && numEpochs != "" && given(e.value(epochs)) && e.value(epochs) != n {
		v, half := lengthOf(text)
		if part := e.value(total) * n / e.value(epochs); math.Abs(part-v) <= leeway(v, half)+2*slack*part {
			return held("%s / %s × %s = %s", e.figure(total), num(e.value(epochs)), numEpochs, seconds(part))
		}
		return refused("total mixed with epoch", "%s trained for %s epochs", e.name, num(e.value(epochs)))
	}
	return c.isLength(digit, text, total)
}

// isOnly reports whether the table of a sentence without names is the only one, so that it is meant.
func (c *court) isOnly() bool { return c.t != nil && len(c.d.tables) == 1 }

// among judges a figure of a sentence without a name by those of the rows: it holds if one has it, and is
// refused if it is beyond all of them. Between them it may be their mean.
func (c *court) among(what, text string, scale float64, figures []float64) ruling {
	figures = slices.DeleteFunc(figures, func(v float64) bool { return !given(v) })
	if !c.isOnly() || len(figures) == 0 {
		return undecided("it names no row")
	}
	v, half := amount(text)
	v, half = v*scale, leeway(v, half)*scale
	for _, got := range figures {
		if math.Abs(got-v) <= half+2*slack*got {
			return held("a row has %s %s", what, num(got))
		}
	}
	least, most := slices.Min(figures), slices.Max(figures)
	if v >= least-half && v <= most+half {
		return undecided("it names no row, and no row has that %s", what)
	}
	return refused("wrong denominators", "the rows have %s from %s to %s", what, num(least), num(most))
}

func someEfficiency(c *court, m []string) ruling {
	var figures []float64
	if c.t != nil && c.t.base != nil {
		for _, e := range c.t.measured {
			s, p := e.soundSpeedup(c.t.base), e.processors()/c.t.base.processors()
			figures = append(figures, s.value/p)
		}
	}
	return c.among("an efficiency of", m[1], 0.01, figures)
}

// maxPairs bounds the rows whose ratios a speed-up without a name is compared with.
const maxPairs = 40

func someSpeedup(c *court, m []string) ruling {
	var figures []float64
	if c.t != nil && len(c.t.measured) <= maxPairs {
		figures = speedupsAmong(c.t.measured)
	}
	return c.among("a speed-up of", m[1]+m[2], 1, figures)
}

// speedupsAmong returns the speed-ups of each entry over each other, by every time, and those written down.
func speedupsAmong(entries []*entry) (out []float64) {
	for _, a := range entries {
		for _, b := range entries {
			if a == b {
				continue
			}
			for _, k := range append(times(), throughput) {
				out = append(out, ratioBy(a, b, k))
			}
		}
		out = append(out, a.value(speedup))
	}
	return out
}

// speedupOf judges a speed-up whose figure stands behind the word, or before it.
func speedupOf(c *court, m []string) ruling {
	return timesFaster(c, []string{m[0], m[3], m[1] + m[2], m[4]})
}

// exchangeOf judges the share of a row's time in exchanging.
func exchangeOf(c *court, m []string) ruling {
	e := c.subject(m[1])
	if e == nil {
		return undecided("it names no row")
	}
	share, how := e.exchangeShare()
	if !given(share) {
		return undecided("no time of communication of %s", e.name)
	}
	if v, half := amount(m[2]); !(math.Abs(share-v/100) <= half/100+2*slack) {
		return refused("wrong denominators", "%s", how)
	}
	return held("%s", how)
}

func someExchange(c *court, m []string) ruling {
	var figures []float64
	if c.t != nil {
		for _, e := range c.t.measured {
			share, _ := e.exchangeShare()
			figures = append(figures, share)
		}
	}
	return c.among("a share of communication of", m[1], 0.01, figures)
}

// percentLess judges that the time of a row is so many percent less than that of another.
func percentLess(c *court, m []string) ruling {
	a, b := c.pair(m[1], group(m, 3))
	return c.less(a, b, m[2])
}

func timeApart(c *court, m []string) ruling { return c.apartBy(times(), m) }

// apartBy judges how much less or more a time of a row is than that of another, by one of some kinds of time.
func (c *court) apartBy(kinds []kind, m []string) ruling {
	a, b := c.pair(m[1], group(m, 4))
	if a == nil || b == nil || a == b {
		return undecided("no two rows to compare")
	}
	v, half := lengthOf(m[2])
	half = leeway(v, half)
	if m[3] == "slower" || m[3] == "longer" {
		a, b = b, a
	}
	r := undecided("no time of both rows")
	for _, k := range kinds {
		less, more := a.cell(k), b.cell(k)
		got := more.value - less.value
		switch {
		case !given(got):
		case math.Abs(got-v) <= half+less.half+more.half+slack*v:
			return c.speed(a, b, nil, 0)
		case r.verdict != Wrong:
			r = refused("wrong denominators", "the %s of %s is %s, that of %s %s", k.word(), a.name,
				a.figure(k), b.name, b.figure(k))
		}
	}
	return r
}

// rateIs judges the samples that a row trains on in a second: as its table says, or batch by step.
func rateIs(c *court, m []string) ruling {
	e := c.subject(m[1])
	if e == nil {
		return undecided("it names no row")
	}
	v, half := amount(m[2])
	half = leeway(v, half)
	if given(e.value(throughput)) {
		return isNear(e, throughput, v, half)
	}
	rate := e.rate()
	switch {
	case !given(rate):
		return undecided("no samples per second of %s", e.name)
	case math.Abs(rate-v) > half+(2*slack+e.rounding(step))*rate:
		return refused("wrong denominators", "%s / %s = %s samples/s", num(e.batch()), e.figure(step),
			num(rate))
	}
	return held("%s / %s = %s samples/s", num(e.batch()), e.figure(step), num(rate))
}

// accuracyIs judges the accuracy that a sentence gives for a row.
func accuracyIs(c *court, m []string) ruling {
	e := c.subject(m[1])
	if e == nil || !given(e.value(accuracy)) {
		return undecided("no accuracy of the row that it names")
	}
	header := e.table.columns[e.table.column(accuracy)].header
	if c.isOther(header, "val", "test") || c.isOther(header, "test", "validation") {
		return undecided("%q is of other samples than the sentence has", header)
	}
	v, half := amount(m[2])
	runs := e.values(accuracy)
	if len(runs) > 1 && v/100 >= slices.Min(runs)-half/100 && v/100 <= slices.Max(runs)+half/100 {
		return held("the accuracies of %s are %s", e.name, e.shown(accuracy))
	}
	if got := e.value(accuracy); !(math.Abs(got-v/100) <= half/100+e.cell(accuracy).half+1e-9) {
		return refusedUntil("accuracy", "the accuracy that the table has", "the accuracy of %s is %s", e.name,
			percent(got))
	}
	return held("the accuracy of %s is %s", e.name, percent(e.value(accuracy)))
}

// hasFigure reports whether a sentence tells a figure.
func hasFigure(text string) bool { return strings.ContainsAny(text, "0123456789") }
