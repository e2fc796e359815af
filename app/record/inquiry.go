package record

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Inquiry is what a plan asks, and the figures of another report beside which ours stand. In a plan it has
// the form that it has here.
type Inquiry struct {
	Title     string     `json:"title,omitempty"`     // of the report: the question of the whole
	Reference Reference  `json:"reference,omitzero"`  // figures of another report
	Questions []Question `json:"questions,omitempty"` // that the rows answer
	// Predictions are frozen before the first run.
	Predictions []Foresight `json:"predictions,omitempty"`
}

// Foresight asks for the steps of more workers than there are, by runs of one and two that are made first.
type Foresight struct {
	Ask        string   `json:"ask"`             // in words
	Workers    []int    `json:"workers"`         // each on one machine
	Strategies []string `json:"strategies"`      // each alone, or with settings: "ps:servers=2"
	Cores      float64  `json:"cores,omitempty"` // of a machine with so many times as many; 0: of this one
	// Speedups are those over one worker that another report predicts, by the number of workers.
	Speedups map[string]float64 `json:"speedups,omitempty"`
}

// Reference is a table of another report.
type Reference struct {
	Title   string         `json:"title"`   // whose figures they are
	Columns []string       `json:"columns"` // quantities, each with a space and the unit of its figures
	Rows    []ReferenceRow `json:"rows"`    // in the order of the other report
}

// ReferenceRow is a row of a [Reference].
type ReferenceRow struct {
	Name    string             `json:"name"`         // of the row
	Is      Selector           `json:"is,omitempty"` // our row that it is beside; null: none
	Figures map[string]float64 `json:"figures"`      // by quantity

	// Derived has, by quantity, the arithmetic by which a figure follows from what is written; without it,
	// the figure itself is written.
	Derived map[string]string `json:"derived,omitempty"`
}

// Selector chooses the first row with these settings, by their names in results.json.
type Selector map[string]string

// Question asks how a quantity of a row compares: with a bound or, over other rows, as a ratio to each.
type Question struct {
	Ask       string     `json:"ask"`                 // in words
	Quantity  string     `json:"quantity"`            // or a phase, whose share of a step is meant
	Of        Selector   `json:"of"`                  // row
	Over      []Selector `json:"over,omitempty"`      // rows that it is divided by
	By        string     `json:"by,omitempty"`        // quantity of both rows that the claim rests on
	Equals    *float64   `json:"equals,omitempty"`    // what is asked; null: see the next
	Above     *float64   `json:"above,omitempty"`     // likewise
	Below     *float64   `json:"below,omitempty"`     // likewise; all null: the figure alone
	Reference []string   `json:"reference,omitempty"` // reference row, quantity, perhaps a row to divide by
}

// Figure returns the figure of a row of the reference and its unit; isThere is false without one.
func (r Reference) Figure(row, quantity string) (v float64, unit string, isThere bool) {
	for _, one := range r.Rows {
		for _, c := range r.Columns {
			if name, of, _ := strings.Cut(c, " "); one.Name == row && name == quantity {
				v, isThere = one.Figures[name]
				return v, of, isThere
			}
		}
	}
	return 0, "", false
}

// Beside returns what the reference of a question names: a figure, or how many times that of another row.
func (r Reference) Beside(names []string) (v float64, unit string, isThere bool) {
	quantity := names[min(1, len(names)-1)]
	if v, unit, isThere = r.Figure(names[0], quantity); len(names) < 3 {
		return v, unit, isThere
	}
	over, _, isBoth := r.Figure(names[2], quantity)
	return v / over, "x", isThere && isBoth
}

// Quantities returns the names of the columns.
func (r Reference) Quantities() (names []string) {
	for _, c := range r.Columns {
		name, _, _ := strings.Cut(c, " ")
		names = append(names, name)
	}
	return names
}

// OnOneMachine returns the inquiry for workers of one machine in place of hosts: rows are chosen by how many
// workers they have.
func (q *Inquiry) OnOneMachine() *Inquiry {
	if q == nil {
		return nil
	}
	on := *q
	on.Questions = nil
	for _, one := range q.Questions {
		one.Of, one.Over = one.Of.onOneMachine(), slices.Clone(one.Over)
		for i, s := range one.Over {
			one.Over[i] = s.onOneMachine()
		}
		on.Questions = append(on.Questions, one)
	}
	return &on
}

// onOneMachine returns the selector with as many workers as it has on hosts.
func (s Selector) onOneMachine() Selector {
	hosts, err := strconv.Atoi(s["hosts"])
	if err != nil {
		return s
	}
	on := maps.Clone(s)
	delete(on, "hosts")
	delete(on, "per_host")
	if _, isThere := on["workers"]; !isThere {
		perHost, err := strconv.Atoi(cmp.Or(s["per_host"], "1"))
		if err != nil {
			return s
		}
		on["workers"] = strconv.Itoa(hosts * perHost)
	}
	return on
}

// Unknown returns a name of the selector that is no setting of a row; "" if all are.
func (s Selector) Unknown() string {
	for name := range s {
		if _, isThere := (Setting{}).text(name); !isThere {
			return name
		}
	}
	return ""
}

// Chooses reports whether a row has the settings; one of another program only if that is named.
func (s Selector) Chooses(row Setting) bool {
	for name, want := range s {
		if got, _ := row.text(name); got != want {
			return false
		}
	}
	return s != nil && row.Peer == s["peer"]
}

// text returns a setting by its name in JSON.
func (s Setting) text(name string) (text string, isThere bool) {
	s.Wire = cmp.Or(s.Wire, "fp32")
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		if tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); tag == name {
			return fmt.Sprint(v.Field(i).Interface()), true
		}
	}
	return "", false
}
