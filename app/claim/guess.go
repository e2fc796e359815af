package claim

import (
	"regexp"
	"slices"
)

// Sentences by which rows of some numbers of workers were not measured: "The times for 8 and 16 workers are
// extrapolated", "The rows with 8 workers were not run". Speed-ups are always computed.
var (
	unmeasured = regexp.MustCompile(`^(?:the |all )?(?:values|figures|numbers|results|rows|entries|` +
		`data|times|measurements|(?:step|epoch|total|training) times?|those|row)\b` +
		`.*\b(?:for|at|of|with|on) ` +
		`((?:\d+(?: and | or | to )?[ ,]*)+) (?:workers?|nodes?|gpus?|processes|devices?|ranks|` +
		`machines)\b(.*)$`)
	notMeasured = regexp.MustCompile(`\b(?:not|never|without being) (?:been )?(?:actually )?` +
		`(?:measured|run|executed|timed)\b`)
	wasGuessed = regexp.MustCompile(`\b(?:is|are|was|were) (?:extrapolated|interpolated|projected|` +
		`estimated|simulated|modell?ed|assumed|predicted)\b`)
	isMeasured = regexp.MustCompile(`\bmeasured\b`)
	someNumber = regexp.MustCompile(`\d+`)

	// What follows such words if only how it was measured is told, or how well it was predicted.
	qualified = regexp.MustCompile(`^ (?:on (?:an? |the )?(?:same|idle|quiet|dedicated|empty)|at the same|` +
		`with (?:the same|tls|encryption)|under (?:load|the same)|in (?:parallel|isolation|turn|the same)|` +
		`together|simultaneously|concurrently|again|separately|more|long|twice|often|repeatedly|several|` +
		`\d+x|well|within|correctly|accurately|closely)\b`)
)

// says reports whether a text has words, and none behind them that qualify them.
func says(text string, words *regexp.Regexp) bool {
	for _, at := range words.FindAllStringIndex(text, -1) {
		if !qualified.MatchString(text[at[1]:]) {
			return true
		}
	}
	return false
}

// guessedAt returns the numbers of workers whose figures a sentence says nobody measured.
func guessedAt(text string) (numbers []float64) {
	m := unmeasured.FindStringSubmatch(normal(text))
	if m == nil || !says(m[2], notMeasured) && (!says(m[2], wasGuessed) || isMeasured.MatchString(m[2])) {
		return nil
	}
	for _, digits := range someNumber.FindAllString(m[1], -1) {
		v, _ := amount(digits)
		numbers = append(numbers, v)
	}
	return numbers
}

// guess tells the tables of the sentence's part, or else all, which of their rows nobody measured.
func (d *Document) guess(one sentence) {
	numbers := guessedAt(one.text)
	if numbers == nil {
		return
	}
	heading := normal(one.section)
	isOwn := func(t *table) bool { return t.heading == heading }
	isSome := slices.ContainsFunc(d.tables, isOwn)
	for _, t := range d.tables {
		if isOwn(t) || !isSome {
			t.guessedAt = append(t.guessedAt, numbers...)
		}
	}
}
