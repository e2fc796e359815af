package claim

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"lockstep/app/analysis"
)

// Report is what a check found.
type Report struct {
	Tables     int         `json:"tables"`
	Rows       int         `json:"rows"`
	Figures    int         `json:"figures"`    // that a rule reads
	Objections []Objection `json:"objections"` // refused first
	Statements []Statement `json:"statements"` // of every sentence that claims something, in their order
	Unread     []string    `json:"unread"`     // columns and cells that no rule reads

	// NotUnderstood counts the sentences with a figure in them that the grammar does not know.
	NotUnderstood int `json:"not_understood"`

	Training string `json:"training,omitempty"` // what was compared, of a training run
}

// Verdict is what the tables say about a sentence.
type Verdict string

// The verdicts.
const (
	Holds      Verdict = "holds"       // the figures give it
	Wrong      Verdict = "refused"     // they give something else, or nothing carries it
	NotChecked Verdict = "not checked" // outside the grammar, or no figure that would decide it
)

// Statement is a sentence with its verdict.
type Statement struct {
	Text    string  `json:"text"`
	Line    int     `json:"line,omitempty"` // of the file, in which it begins
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why"`

	isUnknown bool // no form fits it
}

// IsRefused reports whether something in the document is wrong or carried by nothing.
func (r *Report) IsRefused() bool {
	return len(r.Objections) > 0 && r.Objections[0].Severity == Refused
}

// Check judges a document. Cost: the square of the rows of a table.
func Check(d *Document) *Report {
	r := &Report{Objections: []Objection{}, Statements: []Statement{}, Unread: []string{}}
	if d.Results != nil {
		r.judgeOwn(d)
		return r
	}
	r.Unread = append(r.Unread, d.unread...)
	for _, t := range d.tables {
		r.Tables, r.Rows, r.Figures = r.Tables+1, r.Rows+len(t.rows), r.Figures+t.numFigures()
		r.Objections = append(r.Objections, t.judge()...)
	}
	r.Objections = append(r.Objections, d.printedAsMeasured()...)
	for i, one := range d.sentences {
		s, answer := d.verdict(one)
		if s == nil || one.isTitle && s.Verdict == NotChecked {
			continue
		}
		r.Statements = append(r.Statements, *s)
		if s.Verdict == NotChecked && s.isUnknown && hasFigure(s.Text) {
			r.NotUnderstood++
		}
		severity := Refused
		if answer.rule == disagree {
			severity = Noted
		}
		if answer.rule != "" {
			r.Objections = append(r.Objections, Objection{severity, answer.rule,
				one.place(i + 1), fmt.Sprintf("%q: %s", s.Text, s.Why), answer.text})
		}
	}
	r.sort()
	return r
}

// numFigures returns how many cells of a table hold what rows are judged by.
func (t *table) numFigures() int {
	n := 0
	for i, c := range t.columns {
		if c.kind < samples || c.kind == classes || c.kind == repeats {
			continue
		}
		for _, row := range t.rows {
			if one := row[i]; given(one.value) || given(one.lo) || one.list != nil {
				n++
			}
		}
	}
	return n
}

// sort puts what is refused first and leaves out what is said twice.
func (r *Report) sort() {
	var refused, noted []Objection
	seen := map[string]bool{}
	for _, o := range r.Objections {
		key := o.Rule + "\x00" + o.Where + "\x00" + o.Text
		switch {
		case seen[key]:
		case o.Severity == Refused:
			refused = append(refused, o)
		default:
			noted = append(noted, o)
		}
		seen[key] = true
	}
	r.Objections = append(append([]Objection{}, refused...), noted...)
}

// noFacts returns the facts of a document that states none.
func noFacts() facts { return facts{cores: math.NaN(), repeats: math.NaN(), samples: math.NaN()} }

// Facts that sentences state about all rows: "10 classes", "a machine with 8 cores" or "an 8-core machine",
// "median of 5 runs" or "5 runs of each", and that rows are compared: "ddp is faster".
var (
	saysClasses = regexp.MustCompile(`(?i)\b(\d+|ten|two|hundred) classes\b`)
	saysCores   = regexp.MustCompile(`(?i)\b(?:machines?|vms?|hosts?|servers?|nodes?|computer|laptop|` +
		`box)\b[^.]*?\b(?:with|has|have|of) (\d+) (?:cores|cpus|vcpus)\b|\b(\d+)[- ]cores? (?:machine|` +
		`vm|host|server|node|computer|laptop|box)`)
	saysRuns = regexp.MustCompile(`(?i)\b(?:median|mean|average)s? (?:of|over) (\d+|two|three|four|five|` +
		`six|ten) (?:\w+ )?(?:runs|repeats|repetitions)\b|\b(\d+) (?:runs|repeats|repetitions) (?:of ` +
		`each|each|per)\b`)
	saysCompared = regexp.MustCompile(`(?i)\b(faster|slower|fastest|slowest|speed-?ups?|outperforms?|` +
		`beats?|wins?|overhead|costs? [a-z ]*\d)\b`)
)

// saysMore is how a sentence says that totals hold more than epochs.
var saysMore = regexp.MustCompile(`(?i)\btotals?\b[^.]*\b(includes?|including|contains?|counts?|plus)\b` +
	`[^.]*\b(evaluat\w+|validati\w+|tests?|testing|start(ing|-?up)?|checkpoint\w*|warm-?up|loading|` +
	`set-?up)\b`)

// saysOnce is how a verdict begins that ranks nothing, such as one on single runs; one that stands in short
// at the top is that of the whole document.
var saysOnce = regexp.MustCompile(`(?i)^\**(measured once:|not decided: no other row did|` +
	`not decided: no two rows have two rounds in common|` +
	`not decided: other programs or virtual machines used the cores during every row|` +
	`the fastest row of each of \d+ comparisons is below: none is certain after 1 round\b)`)

// saysNoRatios is how a part says that it gives no speed-ups, because others used the baseline's cores.
var saysNoRatios = regexp.MustCompile(`(?i)^so no speed-?ups\b`)

// settle gathers what the text says about all rows, and tells the tables.
func (d *Document) settle() {
	once, without := map[string]bool{}, map[string]bool{} // headings of parts that say so
	for _, one := range d.sentences {
		d.facts.read(one.text)
		d.guess(one)
		if saysOnce.MatchString(one.text) {
			once[normal(one.section)] = true
		}
		if saysNoRatios.MatchString(one.text) {
			without[normal(one.section)] = true
		}
	}
	for _, t := range d.tables {
		t.facts, t.guesses = d.facts, d.guesses
		t.settleCores()
		t.sort()
		t.isOnce, t.hasNoRatios = once[t.heading] || once["in short"], without[t.heading]
		if len(d.sentences) > 0 {
			t.aliases = t.allAliases()
		}
	}
}

// read takes what a sentence states: of classes and cores the first figure counts, of samples the fewest, of
// runs the last.
func (f *facts) read(text string) {
	if m := saysClasses.FindStringSubmatch(text); m != nil && f.classes == 0 {
		if v := wordNumber(m[1]); v >= 2 && v < 1e6 {
			f.classes = int(v)
		}
	}
	if n := classesNamed(text); n > 0 && f.classes == 0 {
		f.classes = n
	}
	if m := saysCores.FindStringSubmatch(text); m != nil && !given(f.cores) {
		f.cores = coresOf(m[1] + m[2])
	}
	if v := samplesSaid(text); given(v) && !(v >= f.samples) {
		f.samples = v
	}
	if m := saysRuns.FindStringSubmatch(text); m != nil {
		f.repeats = wordNumber(m[1] + m[2])
	}
	f.hasMore = f.hasMore || saysMore.MatchString(text) && !negated.MatchString(strings.ToLower(text))
	f.compares = f.compares || saysCompared.MatchString(text)
}

// wordNumber reads a number in digits or as a word; NaN: neither.
func wordNumber(text string) float64 {
	if v, ok := numberWords()[strings.ToLower(text)]; ok {
		return v
	}
	v, _, _ := parseNumber(text)
	return v
}

func numberWords() map[string]float64 {
	return map[string]float64{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
		"eight": 8, "nine": 9, "ten": 10, "twelve": 12, "sixteen": 16, "hundred": 100}
}

// printed is a time as a row has it.
type printed struct {
	workers float64
	kind    kind
	value   float64
}

// printedAsMeasured objects to rows that are not said to be projected and that have the figures, to the last
// digit, which another table of the document projects for as many workers.
func (d *Document) printedAsMeasured() []Objection {
	guessed := map[printed]*table{}
	for _, t := range d.tables {
		base := baseline(t.entries)
		for _, e := range t.entries {
			if e == base || !e.isProjected {
				continue
			}
			for _, k := range times() {
				if c := e.cell(k); given(c.value) && given(e.workers()) && c.half <= c.value/200 {
					guessed[printed{e.workers(), k, c.value}] = t
				}
			}
		}
	}
	var out []Objection
	for _, t := range d.tables {
		for _, e := range t.measured {
			for _, k := range times() {
				from := guessed[printed{e.workers(), k, e.cell(k).value}]
				if from == nil || from == t {
					continue
				}
				text := fmt.Sprintf("a time of %s (%s) is what table %d projects for %s workers, to the "+
					"last digit: a projection printed as a measurement", seconds(e.cell(k).value), k.word(),
					from.number, num(e.workers()))
				out = append(out, Objection{Refused, "projections",
					fmt.Sprintf("table %d, %s", t.number, e.name), text, answerTo("projections")})
			}
		}
	}
	return out
}

// answerTo returns what would answer a rule.
func answerTo(name string) string {
	for _, r := range rules() {
		if r.name == name {
			return r.answer
		}
	}
	return ""
}

// CheckTraining judges what a training run has left.
func CheckTraining(t *analysis.Training) *Report {
	r := &Report{Objections: []Objection{}, Statements: []Statement{}, Unread: []string{},
		Training: t.Compared()}
	for _, text := range t.Contradictions() {
		r.Objections = append(r.Objections, Objection{Refused, "contradiction", "summary.json", text,
			"the folder as lockstep train wrote it"})
	}
	return r
}

// judgeOwn applies the rules of Lockstep's own reports.
func (r *Report) judgeOwn(d *Document) {
	c := analysis.Compare(d.Results)
	r.Tables, r.Rows = len(c.Groups), len(d.Results.Rows)
	for _, row := range d.Results.Rows {
		r.Figures += len(row.Runs)
	}
	for _, n := range c.Notes {
		severity := Noted
		switch n.Kind {
		case analysis.Fact:
			continue
		case analysis.Refused:
			severity = Refused
		}
		r.Objections = append(r.Objections, Objection{severity, n.Topic, "results", n.Text, n.Answer})
	}
	r.sort()
}
