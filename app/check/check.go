package check

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"lockstep/app/evidence/compare"
)

// Severity says what an objection does to a document.
type Severity string

// The severities.
const (
	Refuse Severity = "refuse" // a figure is wrong, or contradicts another
	Warn   Severity = "warn"   // a figure may stand and could be misread
)

// Objection is what a rule has against figures of a document.
type Objection struct {
	Rule       string   `json:"rule"` // a stable word
	Severity   Severity `json:"severity"`
	Text       string   `json:"text"`       // what is wrong
	Arithmetic string   `json:"arithmetic"` // with the figures put in
	Places     []Place  `json:"places"`     // of the figures
	Remedy     string   `json:"remedy"`     // what would answer it
}

// Unread is a number of which no word tells what it is.
type Unread struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Counts says how many numbers a document has and how many of them are known by kind.
type Counts struct {
	All  int `json:"all"`
	Read int `json:"read"`
}

// Report is what a check found.
type Report struct {
	Figures    Counts      `json:"figures"`
	Objections []Objection `json:"objections"` // refusals first
	Unread     []Unread    `json:"unread"`

	Compared string `json:"compared,omitempty"` // what was, of Lockstep's own
}

// IsRefused reports whether something in the document is wrong.
func (r *Report) IsRefused() bool {
	return slices.ContainsFunc(r.Objections, func(o Objection) bool { return o.Severity == Refuse })
}

// maxPerRule bounds the objections of a rule: who reads ten knows it.
const maxPerRule = 10

// Check judges a document.
func Check(d *Document) *Report {
	r := &Report{Objections: []Objection{}, Unread: []Unread{}}
	if d.Results != nil {
		r.judgeOwn(d)
		return r
	}
	r.Figures.All = len(d.Figures)
	for _, f := range d.Figures {
		if f.Kind != Unknown {
			r.Figures.Read++
			continue
		}
		r.Unread = append(r.Unread, Unread{f.Place.Line, f.Text})
	}
	d.findPrice()
	d.repeated = d.isRepeated()
	for _, rule := range rules() {
		n, seen := 0, map[string]bool{}
		rule.test(d, func(severity Severity, text, arithmetic string, figures ...*Figure) {
			if n >= maxPerRule || seen[text+arithmetic] {
				return
			}
			seen[text+arithmetic] = true
			n++
			o := Objection{rule.name, severity, text, arithmetic, []Place{}, rule.remedy}
			for _, f := range figures {
				o.Places = append(o.Places, f.Place)
			}
			r.Objections = append(r.Objections, o)
		})
	}
	r.sort()
	return r
}

// sort puts refusals before warnings.
func (r *Report) sort() {
	slices.SortStableFunc(r.Objections, func(a, b Objection) int {
		return strings.Compare(string(a.Severity), string(b.Severity))
	})
}

// judgeOwn applies the refusals and cautions of package analysis to results of Lockstep's own.
func (r *Report) judgeOwn(d *Document) {
	for _, row := range d.Results.Rows {
		r.Figures.All += len(row.Runs)
	}
	r.Figures.Read = r.Figures.All
	r.Compared = fmt.Sprintf("%d rows", len(d.Results.Rows))
	for _, n := range compare.Compare(d.Results).Notes {
		switch n.Kind {
		case compare.Fact:
		case compare.Refused:
			r.own(n.Topic, Refuse, n.Text, n.Answer)
		default:
			r.own(n.Topic, Warn, n.Text, n.Answer)
		}
	}
	r.sort()
}

// CheckTraining judges what a training run has left.
func CheckTraining(t *compare.Training) *Report {
	r := &Report{Objections: []Objection{}, Unread: []Unread{}, Compared: "training run: " + t.Compared()}
	for _, text := range t.Changed() {
		r.own("seal", Refuse, text, "the folder as lockstep train wrote it")
	}
	return r
}

// own appends an objection to a file of Lockstep's own.
func (r *Report) own(rule string, severity Severity, text, remedy string) {
	r.Objections = append(r.Objections, Objection{rule, severity, text, "", []Place{}, remedy})
}

// num writes a number with four significant digits.
func num(v float64) string {
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// percent writes a share.
func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) + " %" }

// findPrice finds the price of a worker, if the document states one.
func (d *Document) findPrice() {
	for _, f := range d.Figures {
		if f.Kind == Price && d.price != nil && !d.price.equals(f) {
			d.price = nil
			return
		}
		if f.Kind == Price {
			d.price = f
		}
	}
}
