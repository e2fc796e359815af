package check

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
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

// Check judges a document that is no results.json: Lockstep judges its own by what reports find in them.
func Check(d *Document) *Report {
	r := &Report{Objections: []Objection{}, Unread: []Unread{}}
	r.Figures.All = len(d.Figures)
	for _, f := range d.Figures {
		if f.Kind != Unknown {
			r.Figures.Read++
			continue
		}
		r.Unread = append(r.Unread, Unread{f.Place.Line, f.Text})
	}
	d.price = (&recordOf{figures: d.Figures}).one(Price, "")
	d.repeated = d.isRepeated()
	for _, rule := range rules() {
		seen := map[string]bool{}
		rule.test(d, func(severity Severity, text, arithmetic string, args ...any) {
			o := Objection{Rule: rule.name, Severity: severity, Text: text, Remedy: rule.remedy}
			for i, arg := range args {
				switch v := arg.(type) {
				case *Figure:
					o.Places, args[i] = append(o.Places, v.Place), v.Text
				case float64:
					args[i] = num(v)
				}
			}
			o.Arithmetic = fmt.Sprintf(arithmetic, args...)
			if len(seen) < maxPerRule && !seen[text+o.Arithmetic] {
				seen[text+o.Arithmetic] = true
				r.Objections = append(r.Objections, o)
			}
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

// Own is the report on a file of Lockstep's own, of which so many runs were read; what was compared, and what
// was found.
func Own(runs int, compared string, found []Objection) *Report {
	r := &Report{Figures: Counts{runs, runs}, Objections: append([]Objection{}, found...), Unread: []Unread{},
		Compared: compared}
	for i := range r.Objections {
		r.Objections[i].Places = []Place{}
	}
	r.sort()
	return r
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
