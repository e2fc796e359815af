package report

import (
	"fmt"

	"lockstep/app/analysis"
)

// costTable says what runs of each row take of the machine: the time and core-minutes of one, the time of ten
// and what ten would cost at a price. Rows whose times say how busy the machine was are left out.
func (s *section) costTable(p analysis.Price) (t table, caption string) {
	t = table{Name: "Time and cost of runs", Head: []heading{{"row", ""}, {"one run", "s"},
		{"one run", "core-minutes"}, {"ten runs", "minutes"}, {"ten runs", "US dollars"}}}
	for _, v := range s.lines {
		one := v.Total.Median
		if !known(one) || v.Disturbed {
			continue
		}
		cores := float64(v.Cores)
		t.Rows = append(t.Rows, row{Cells: []cell{v.name(), {Text: seconds(one)},
			{Text: digits(analysis.DeviceMinutes(one, cores), 3)},
			{Text: digits(analysis.DeviceMinutes(10*one, 1), 3)},
			{Text: digits(analysis.Cost(10*one, cores, p.Core()), 3)}}})
	}
	return t, fmt.Sprintf("Medians of the runs' training and evaluation, without starting processes, on the "+
		"cores that the row keeps busy. Ten runs are ten times one. Dollars are a projection: these cores "+
		"were not rented; the price is that of %s, $%g an hour for %d cores (%s, %s).", p.Machine, p.Hour,
		p.Cores, p.Date, p.Source)
}
