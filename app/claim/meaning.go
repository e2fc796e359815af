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

// mostAccurate judges that a row has a better accuracy than every other one.
func mostAccurate(c *court, m []string) ruling {
	a := c.subject(m[1])
	if a == nil {
		return undecided("it names no row")
	}
	r := undecided("no accuracy of other rows")
	for _, b := range c.t.measured {
		if b == a || !given(b.value(accuracy)) || c.isMeant != nil && !c.isMeant(b) {
			continue
		}
		if r = moreAccurate(a, b); r.verdict != Holds {
			return r
		}
	}
	return r
}

// accurate judges that a row has the better accuracy.
func accurate(c *court, m []string) ruling {
	a, b := c.pair(m[1], group(m, 2))
	return moreAccurate(a, b)
}

func moreAccurate(a, b *entry) ruling {
	c, why := compareAccuracy(a, b)
	const more = "the same comparison with five or more seeds of each row"
	switch {
	case why != "":
		return undecided("%s", why)
	case a.value(accuracy) <= b.value(accuracy):
		return refusedUntil("accuracy", "the accuracies compared", "%s: it is not higher", c.text)
	case c.isOne():
		return refusedUntil("one seed", more, "%s, from one seed each: another seed moves an accuracy too",
			c.text)
	}
	if p := c.a.DifferenceP(c.b); p >= analysis.Significance {
		return refusedUntil("one seed", more, "%s: the seeds do not tell them apart (p = %.2g)", c.text, p)
	}
	return held("%s", c.text)
}

// accuracies are those of the seeds of two rows.
type accuracies struct {
	a, b analysis.Moments
	text string // both with their intervals
	bits string // hash of the parameters, if both rows have the same, or how many; else ""

	isRounding bool // what is between them may be
}

// isOne reports whether one of the rows has a single seed.
func (c accuracies) isOne() bool { return c.a.N < 2 || c.b.N < 2 }

// sameP returns the probability of accuracies as near as these if the true ones differ by more than "the
// same" allows.
func (c accuracies) sameP() float64 { return c.a.EquivalenceP(c.b, analysis.SameAccuracy) }

// compareAccuracy sets the accuracies of two rows in relation; why says what keeps them from being compared.
func compareAccuracy(a, b *entry) (c accuracies, why string) {
	if a == nil || b == nil || a == b {
		return c, "no two rows to compare"
	}
	if !given(a.value(accuracy)) || !given(b.value(accuracy)) {
		return c, "no accuracy of both rows"
	}
	c = accuracies{a: analysis.MomentsOf(a.values(accuracy)), b: analysis.MomentsOf(b.values(accuracy)),
		text: fmt.Sprintf("%s %s, %s %s", a.name, a.shown(accuracy), b.name, b.shown(accuracy)),
		bits: sameHashes(a, b)}
	room := math.Max(a.cell(accuracy).half, b.cell(accuracy).half)
	c.isRounding = math.Abs(c.a.Mean-c.b.Mean) <= room+1e-9
	return c, ""
}

// leastHash is how many digits of a hash tell parameters apart, leastEnd how many of them begin it.
const leastHash, leastEnd = 8, 4

// hex is a hash, behind the name of its algorithm or not. One that was cut has an ellipsis at its end, or in
// its middle, with its last digits behind it. A word behind the ellipsis is none of it.
var hex = regexp.MustCompile(`^(?:sha-?256[: ]|0x)?([0-9a-f]+)(?:$|(?:…|\.{2,})(?:([0-9a-f]+)\b)?)`)

// digest is a hash as a table has it: some of its first digits, and of its last ones if its middle was cut.
type digest struct{ head, tail string }

// wholeHash is how many digits a SHA-256 has.
const wholeHash = 64

// parseHash reads the hash in a cell; false: it has none, or too few digits. One digit repeated is none.
func parseHash(text string) (h digest, ok bool) {
	m := hex.FindStringSubmatch(strings.ToLower(text))
	if m == nil || strings.Trim(m[1]+m[2], m[1][:1]) == "" {
		return h, false
	}
	h = digest{m[1], m[2]}
	if len(h.head) == wholeHash {
		h.tail = h.head
	}
	return h, len(h.head) >= leastEnd && len(h.head) <= wholeHash && len(m[1]+m[2]) >= leastHash
}

// String shows the hash as a table does.
func (h digest) String() string {
	if h.tail == "" || len(h.head) == wholeHash {
		return h.head
	}
	return h.head + "…" + h.tail
}

// isSame reports whether two hashes agree in the digits that both have, which are enough.
func (h digest) isSame(other digest) bool {
	head, tail := min(len(h.head), len(other.head)), min(len(h.tail), len(other.tail))
	return h.head[:head] == other.head[:head] &&
		h.tail[len(h.tail)-tail:] == other.tail[len(other.tail)-tail:] && head+tail >= leastHash
}

// hashes returns the hashes of the parameters that the entry's rows ended with, in order; nil if a row has
// none.
func (e *entry) hashes() (all []digest) {
	i := e.table.column(hash)
	if i < 0 {
		return nil
	}
	for _, r := range e.rows {
		h, ok := parseHash(e.table.rows[r][i].text)
		if !ok {
			return nil
		}
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b digest) int {
		return cmp.Or(cmp.Compare(a.head, b.head), cmp.Compare(a.tail, b.tail))
	})
	return all
}

// sameHashes says which parameters two entries have in common, run by run; "" if they differ or nobody knows.
func sameHashes(a, b *entry) string {
	all, others := a.hashes(), b.hashes()
	switch {
	case len(all) == 0 || len(others) == 0:
		return ""
	case all[0].isSame(all[len(all)-1]): // one run, however often
		both := append(all, others...)
		if slices.ContainsFunc(both, func(h digest) bool { return !all[0].isSame(h) }) {
			return ""
		}
		return all[0].String()
	case !slices.EqualFunc(all, others, digest.isSame):
		return ""
	}
	return fmt.Sprintf("%d hashes", len(all))
}

// mostAlike is how many entries with other hashes that begin alike are compared with each further one.
const mostAlike = 64

// otherAccuracies objects to accuracies that differ where the parameters are the same.
func otherAccuracies(t *table, say sayer) {
	for _, g := range t.groups() {
		seen := map[string][]*entry{} // by how their hashes begin: a long table has many pairs
		for _, b := range g {
			key := ""
			for _, h := range slices.CompactFunc(b.hashes(), digest.isSame) {
				key += h.head[:leastEnd]
			}
			if key == "" || !given(b.value(accuracy)) {
				continue
			}
			same := slices.IndexFunc(seen[key], func(a *entry) bool { return sameHashes(a, b) != "" })
			if same < 0 {
				if len(seen[key]) < mostAlike {
					seen[key] = append(seen[key], b)
				}
				continue
			}
			if c, why := compareAccuracy(seen[key][same], b); why == "" && !c.isRounding {
				say(Refused, b.name, "%s, although the parameters are the same, %s", c.text, c.bits)
			}
		}
	}
}

// sameAccuracy judges that two rows have the same accuracy, which not having found a difference does not
// show.
func sameAccuracy(c *court, m []string) ruling {
	both, why := compareAccuracy(c.pair(m[1], m[2]))
	if why != "" {
		return undecided("%s", why)
	}
	return same(both)
}

// same judges that two accuracies are shown to be the same.
func same(both accuracies) ruling {
	const more = "five or more seeds of each row and an equivalence test, or equal parameters bit for bit"
	switch {
	case both.bits != "" && !both.isRounding:
		return refused("accuracy", "%s, although the parameters are the same, %s", both.text, both.bits)
	case both.bits != "":
		return held("%s: the parameters are the same, %s", both.text, both.bits)
	case both.isOne():
		return refusedUntil("one seed", more, "%s, from one seed each: one seed shows neither a difference "+
			"nor that there is none", both.text)
	}
	margin := num(100 * analysis.SameAccuracy)
	p := both.sameP()
	if p >= analysis.Significance {
		return refusedUntil("one seed", more, "%s: the seeds do not show them to be within %s points (two "+
			"one-sided tests, p = %.2g)", both.text, margin, p)
	}
	return held("%s: within %s points (two one-sided tests, p = %.2g)", both.text, margin, p)
}

// lossSaid is a loss that a sentence states, such as "an average loss of 2.33".
var lossSaid = regexp.MustCompile(`\bloss(?:es)?(?: (?:of|is|was|at|about|around|near))* ` + figure)

// noClasses says what keeps a loss from being compared with that of guessing.
const noClasses = "nothing says how many classes there are: write \"10 classes\", or as many as there are, " +
	"in the text"

// statedLoss judges by the loss in the sentence itself.
func (c *court) statedLoss() ruling {
	m, n := lossSaid.FindStringSubmatch(c.words), c.d.facts.classes
	switch {
	case m == nil:
		return undecided("no loss: neither the sentence nor a column called loss gives one")
	case n < 2:
		return undecided("a loss of %s, and "+noClasses, m[1])
	}
	if l, _ := amount(m[1]); analysis.IsGuessing(l, n) {
		return refused("loss at chance", "a loss of %s; guessing among %d "+
			"classes has ln(%d) = %.3f", m[1], n, n, math.Log(float64(n)))
	}
	return undecided("a loss below that of guessing; whether it still falls, one value does not tell")
}

// converges judges by the last loss of the rows that a sentence is about, those it names or all, and by the
// accuracy of those without one.
func converges(c *court, _ []string) ruling {
	if negated.MatchString(c.words) {
		return undecided("a denial, which is not understood here")
	}
	if c.t == nil {
		return c.statedLoss()
	}
	about := c.subjects
	if len(about) == 0 {
		about = c.t.measured
	}
	var fine []string
	isLoss := false
	for _, e := range about {
		l, n := e.value(loss), e.classesOf()
		if !given(l) {
			l = e.lastLoss()
		}
		isLoss = isLoss || given(l)
		switch a := e.value(accuracy); {
		case !given(l) && isGuessed(a, n):
			return refused("loss at chance", "%s ends with an accuracy of %s; guessing among %d classes "+
				"has %s", e.name, percent(a), n, percent(1/float64(n)))
		case !given(l) || n < 2:
			continue
		case analysis.IsGuessing(l, n):
			return refused("loss at chance", "%s ends with a loss of %s; guessing among %d classes has "+
				"ln(%d) = %.3f", e.name, num(l), n, n, math.Log(float64(n)))
		}
		fine = append(fine, fmt.Sprintf("%s %s", e.name, num(l)))
	}
	switch {
	case !isLoss:
		return c.statedLoss()
	case fine == nil:
		return undecided("there is a loss, and " + noClasses)
	}
	return undecided("the losses (%s) are below that of guessing; whether they still fall, one value each "+
		"does not tell", list(fine))
}

// exchangeShare returns the share of an entry's time in exchanging, and how it is made up; NaN: not measured.
func (e *entry) exchangeShare() (share float64, text string) {
	if n := e.value(network); given(n) {
		if k, ok := timeOf(e); ok && k != throughput && e.slowness(k) >= n {
			whole := e.slowness(k)
			return n / whole, fmt.Sprintf("%s of %s in %s, %s", e.duration(k, n), e.duration(k, whole),
				e.name, percent(n/whole))
		}
	}
	for i, c := range e.table.columns {
		one := e.at(i)
		if c.kind != phase || !exchanging.MatchString(c.name) || !given(one.value) {
			continue
		}
		if one.unit == "%" || c.unit == 0.01 {
			return one.value / 100, fmt.Sprintf("%s %% of %s", num(one.value), e.name)
		}
		if whole, k := nearestTime(e, one.value); given(whole) {
			return one.value / whole, fmt.Sprintf("%s against a %s of %s in %s, %s", e.duration(k, one.value),
				k.word(), e.duration(k, whole), e.name, percent(one.value/whole))
		}
	}
	return math.NaN(), ""
}

// exchanging are words of the name of a phase in which workers wait for gradients.
var exchanging = regexp.MustCompile(`sync|comm|exchange|exposed`)

// bottleneck judges by the share of time in the exchange.
func bottleneck(c *court, m []string) ruling {
	if len(c.d.tables) == 0 {
		return undecided("no table")
	}
	if c.t == nil {
		return refusedUntil("cause", c.d.needs(m[1]), "no table measures the time of the %s", m[1])
	}
	share, text := math.NaN(), ""
	for _, e := range c.t.measured {
		if s, how := e.exchangeShare(); given(s) && !(s <= share) {
			share, text = s, how
		}
	}
	isNot := m[2] != ""
	switch {
	case !given(share):
		return undecided("no time of the %s in this table", m[1])
	case isNot && share > analysis.NoiseLimit:
		return refusedUntil("cause", "the time in which training waits for it, and a run on a faster network",
			"%s", text)
	case !isNot && share < 0.5:
		return refusedUntil("cause", "the time in which training waits for it, and a run on a faster network",
			"%s is not most of the time", text)
	}
	return held("%s", text)
}

// overlaps judges whether the time that was hidden, or exposed, was measured at all.
func overlaps(c *court, _ []string) ruling {
	if negated.MatchString(c.words) {
		return undecided("a denial, which is not understood here")
	}
	if c.t == nil || c.t != c.d.tables[0] && len(c.subjects) == 0 {
		return undecided(outside)
	}
	for i, column := range c.t.columns {
		if column.kind == phase && column.isHidden() && c.t.isNumeric(i) && c.hidesNothing(i) {
			return refusedUntil("cause", c.d.needs("communication"), "%q is 0: nothing is hidden",
				column.header)
		}
	}
	var shares []string
	for _, t := range c.d.tables {
		for i, column := range t.columns {
			switch {
			case column.kind != phase || !t.isNumeric(i):
			case strings.Contains(column.name, "hidden") || strings.Contains(column.name, "exposed"):
				return undecided("%q of table %d measures it; whether that is overlap, the time without "+
					"it tells",
					column.header, t.number)
			case exchanging.MatchString(column.name):
				for _, e := range t.measured {
					shares = append(shares, fmt.Sprintf("%s %s", e.name, num(e.at(i).value)))
				}
			}
		}
	}
	text := "no column tells exposed from hidden communication"
	if shares != nil {
		text += "; the shares of communication (" + list(shares) + ") do not"
	}
	return refusedUntil("cause", "the time in which training waits for gradients, with overlap and without",
		"%s", text)
}

// hidesNothing reports whether column i is 0 in the rows that a sentence names, or in all.
func (c *court) hidesNothing(i int) bool {
	about := c.subjects
	if len(about) == 0 {
		about = c.t.measured
	}
	return len(about) > 0 && !slices.ContainsFunc(about, func(e *entry) bool { return e.at(i).value != 0 })
}

// cause is a reason that people give, and what in a table measures it.
type cause struct {
	words    *regexp.Regexp // by which people call it
	name     string
	needs    string         // what would measure it
	measured *regexp.Regexp // headings of columns that do
}

// causeList lists reasons. The first that fits a sentence counts.
func causeList() []cause {
	list := []struct{ words, name, needs, measured string }{
		{`network|communicat|latency|bandwidth|synchroni|exchange|gradient traffic|multi node|internode|` +
			`inter node`,
			"communication", "exposed communication of each row, and the row again on a faster or slower " +
				"link",
			`comm|sync|exchange|exposed|network|bandwidth|bytes|latency`},
		{`contention|oversubscri|shar(?:e|ed|ing) (?:of )?(?:the )?(?:cpu|core)|other processes|noisy|` +
			`steal|same cores`,
			"contention", "cores of the machine, and the share that others took",
			`cores|steal|load|cpus|utili[sz]ation`},
		{`cache|memory`, "memory", "cache misses or memory bandwidth of each row", `cache|memory|rss|miss`},
		{`data load|loader|disk|i/o|input pipeline`, "loading data", "time spent waiting for data",
			`data|load|disk|i/o`},
		{`straggl|slow(?:er|est) (?:node|rank|worker)|imbalance|rank 0|master`, "an unequal rank",
			"the time of every rank until it waits", `rank|wait|idle`},
		{`checkpoint`, "checkpoints", "the same row without checkpoints, several times", `checkpoint`},
		{`batch|microbatch`, "the batch size", "the same row with another batch and nothing else changed",
			`^$`},
		{`overhead|startup|launch`, "overhead", "what the overhead is made of, in seconds",
			`overhead|start|launch|other`},
		{`comput`, "computation", "seconds of forward and backward passes", `forward|backward|compute`},
	}
	out := make([]cause, len(list))
	for i, c := range list {
		out[i] = cause{regexp.MustCompile(c.words), c.name, c.needs, regexp.MustCompile(c.measured)}
	}
	return out
}

// onlyThat would answer a cause that no column can measure.
const onlyThat = "a run in which only that cause was changed"

// causeIn returns the first cause that words name; nil: none that is known.
func (d *Document) causeIn(words string) *cause {
	for i, c := range d.language.causes {
		if c.words.MatchString(words) {
			return &d.language.causes[i]
		}
	}
	return nil
}

// needs returns what would measure a cause.
func (d *Document) needs(words string) string {
	if c := d.causeIn(words); c != nil {
		return c.needs
	}
	return onlyThat
}

// performance are words of a sentence whose reason is about speed, beside the names of rows.
var performance = regexp.MustCompile(`§\d|\b(slower|slowest|slowdown|faster|fastest|speedups?|longer|` +
	`shorter|efficiency|throughput|scaling|differences?|overhead|wins|loses)\b`)

// knownCauses is causes for words that often introduce something else than a reason.
func knownCauses(c *court, m []string) ruling {
	if c.d.causeIn(m[1]) == nil {
		return undecided(outside)
	}
	return causes(c, m)
}

// causes judges a reason by whether any table measures it.
func causes(c *court, m []string) ruling {
	if len(c.d.tables) == 0 || !performance.MatchString(c.words) {
		return undecided(outside)
	}
	reason := m[1]
	isGuess := guess.MatchString(c.words)
	one := c.d.causeIn(reason)
	switch {
	case one == nil && lacksCores(reason) != "":
		return c.forLackOfCores(lacksCores(reason))
	case one == nil && isGuess:
		return refusedUntil("cause", onlyThat, "a guess, and no column measures what it is about")
	case one == nil:
		return refusedUntil("cause", onlyThat, "no column measures the reason:%s", reason)
	}
	t, header := c.d.measures(one)
	switch {
	case t == nil:
		return refusedUntil("cause", one.needs, "no column measures %s", one.name)
	case isGuess:
		return refusedUntil("cause", one.needs,
			"a guess, although %q of table %d measures %s: say what it shows", header, t.number, one.name)
	}
	return undecided("%q of table %d measures %s; whether it explains the difference, a run with only that "+
		"changed would tell", header, t.number, one.name)
}

// measures returns the first table with a column that measures a cause, and its heading; nil: there is none.
func (d *Document) measures(one *cause) (t *table, header string) {
	for _, t := range d.tables {
		for i, column := range t.columns {
			words, _ := headingWords(column.header)
			if one.measured.MatchString(words) && (t.isNumeric(i) || column.kind == setting) {
				return t, column.header
			}
		}
	}
	return nil, ""
}

// guess are words by which a sentence says that its reason is one of several that may be.
var guess = regexp.MustCompile(`\b(likely|probably|presumably|perhaps|possibly|seems?|appears?|suggests?)\b`)
