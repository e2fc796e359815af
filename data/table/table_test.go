package table_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"lockstep/data/table"
)

func Example() {
	m := table.NewMeasure([]string{"age", "port"}, "label")
	rows := [][]string{{"10", "S"}, {"30", "C"}, {"", "S"}}
	for _, row := range rows {
		m.See(row, func() string { return "a row" })
	}
	for _, row := range rows {
		if err := m.Count(row); err != nil {
			fmt.Println(err)
		}
	}
	for _, row := range rows {
		m.Spread(row)
	}
	t := m.Table()
	channels, err := t.Append(nil, []string{"NA", "Q"}) // a missing number, an unknown category
	fmt.Println(channels, err, t.Unknown([]string{"NA", "Q"}))
	mean, std := t.Scale()
	fmt.Println(mean, std)
	// Output:
	// [20 1 0 0] <nil> [port]
	// [20 0 0 0] [10 1 1 1]
}

// seaTable has a number that is marked, a category and a plain number.
func seaTable() *table.Table {
	return &table.Table{Label: "saved", Columns: []table.Column{
		{Name: "age", IsNumber: true, Mean: 20, Std: 10, IsMarked: true},
		{Name: "port", Categories: []string{"C", "S"}}, {Name: "fare", IsNumber: true, Mean: 1, Std: 1}}}
}

// Columns are found by name; those that lack are an error, those beyond are told, the label is neither.
func TestPlaces(t *testing.T) {
	at, unused, err := seaTable().Places([]string{"id", "fare", " age", "saved", "port", "note"})
	if fmt.Sprint(at, unused) != "[2 4 1] [id note]" || err != nil {
		t.Errorf("%v %v, %v", at, unused, err)
	}
	for want, header := range map[string]string{
		`no column age, fare, which the training file has`: "port,saved",
		`columns 1 and 3 are both called "age"`:            "age,port,age,fare",
	} {
		_, _, err := seaTable().Places(strings.Split(header, ","))
		if bad := (*table.HeaderError)(nil); !errors.As(err, &bad) || bad.Reason != want {
			t.Errorf("%s: %v", header, err)
		}
	}
}

// A row by names gives the fields in order, and says what is missing or too much.
func TestRow(t *testing.T) {
	row, err := seaTable().Row(map[string]any{"age": nil, "port": " S ", "fare": 7.25, "saved": "no"})
	if fmt.Sprintf("%q", row) != `["" "S" "7.25"]` || err != nil {
		t.Errorf("%q, %v", row, err)
	}
	for want, values := range map[string]map[string]any{
		`no "fare"; give null`:     {"age": 1, "port": "S"},
		`"colour" is no column`:    {"age": 1, "port": "S", "fare": 2, "colour": "red"},
		`column "port": a list or`: {"age": 1, "port": []any{"S"}, "fare": 2},
	} {
		if _, err := seaTable().Row(values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", values, err)
		}
	}
}

func TestBadTables(t *testing.T) {
	for want, change := range map[string]func(*table.Table){
		"0 columns":       func(t *table.Table) { t.Columns = nil },
		"two columns":     func(t *table.Table) { t.Columns[1].Name = "age" },
		"deviation 0":     func(t *table.Table) { t.Columns[0].Std = 0 },
		"mean NaN":        func(t *table.Table) { t.Columns[0].Mean = float32(math.NaN()) },
		"deviation +Inf":  func(t *table.Table) { t.Columns[2].Std = float32(math.Inf(1)) },
		"257 categories":  func(t *table.Table) { t.Columns[1].Categories = make([]string, 257) },
		"no column with":  func(t *table.Table) { t.Columns = []table.Column{{Name: "x"}} },
		"2 categories":    func(t *table.Table) { t.Columns[1].IsMarked = true },
		"1, 2 categories": func(t *table.Table) { t.Columns[2].Categories = []string{"a", "b"} },
	} {
		bad := seaTable()
		if change(bad); bad.Check() == nil || !strings.Contains(bad.Check().Error(), want) {
			t.Errorf("want %s, got %v", want, bad.Check())
		}
	}
	if err := seaTable().Check(); err != nil {
		t.Error(err)
	}
}

// A number beyond float32, or beyond float64, is a fault of a column of numbers, and a category among others.
func TestNumbersBeyondAllBounds(t *testing.T) {
	for _, beyond := range []string{"1e39", "-1e400", "inf"} {
		m := table.NewMeasure([]string{"n", "code"}, "")
		rows := [][]string{{"1", "1"}, {beyond, beyond}, {"2", "b2"}}
		for _, row := range rows {
			m.See(row, func() string { return "a line" })
		}
		want := fmt.Sprintf(`column "n": %s in a line, want a finite number`, beyond)
		if err := m.Count(rows[0]); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if codes := m.Table().Columns[1]; codes.IsNumber {
			t.Errorf("%s among codes makes them numbers", beyond)
		}
	}
}

// A column with too many values that are no numbers is refused before it takes memory without bound.
func TestTooManyCategories(t *testing.T) {
	m := table.NewMeasure([]string{"id"}, "")
	var err error
	for i := 0; err == nil; i++ {
		row := []string{fmt.Sprint("a", i)}
		m.See(row, func() string { return "line 2" })
		err = m.Count(row)
	}
	if bad := (*table.ValueError)(nil); !errors.As(err, &bad) || !strings.Contains(bad.Reason,
		`more than 256 values that are not all numbers, the first "a0" in line 2`) {
		t.Error(err)
	}
}
