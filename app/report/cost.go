package report

import (
	"fmt"
	"strings"

	"lockstep/app/analysis"
)

// costTable says what runs of each row take of the machine: the time and device-minutes of one, the time of
// ten and what ten would cost at the price of such a device. Rows whose times say how busy the machine was
// are left out.
func (s *section) costTable() (t table, caption string) {
	t = table{Name: "Time and cost of runs", Head: []heading{{"row", ""}, {"one run", "s"},
		{"one run", "core-minutes"}, {"ten runs", "minutes"}, {"ten runs", "US dollars"}}}
	var prices []string
	used, rented, unpriced := "the cores that the row keeps busy", "these cores", ""
	for _, v := range s.lines {
		one := v.Total.Median
		if !known(one) || v.Disturbed {
			continue
		}
		devices, small, price, isPriced := float64(v.Cores), "", analysis.Prices()[0], true
		if n := v.NumGPUs(); n > 0 {
			devices, small = float64(n), "of a GPU"
			price, isPriced = analysis.PriceOf(v.GPU())
			t.Head[2].Unit = "device-minutes"
			used, rented = "the cores that the row keeps busy, or on its GPUs", "these devices"
		}
		dollars := cell{Text: dash}
		if isPriced {
			dollars.Text = digits(analysis.Cost(10*one, devices, price.Device()), 3)
			prices = addNew(prices, price.Text())
		} else {
			unpriced = " No price is known here of " + v.GPU() + "."
		}
		t.Rows = append(t.Rows, row{Cells: []cell{v.name(), {Text: seconds(one)},
			{Text: digits(analysis.DeviceMinutes(one, devices), 3), Small: small},
			{Text: digits(analysis.DeviceMinutes(10*one, 1), 3)}, dollars}})
	}
	caption = "Medians of the runs' training and evaluation, without starting processes, on " + used +
		". Ten runs are ten times one."
	if len(prices) > 0 {
		caption += fmt.Sprintf(" Dollars are a projection: %s were not rented; the price is that of %s.",
			rented, strings.Join(prices, ", or of "))
	}
	return t, caption + unpriced
}

// addNew appends text to all unless it is there.
func addNew(all []string, text string) []string {
	for _, one := range all {
		if one == text {
			return all
		}
	}
	return append(all, text)
}
