package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
)

// costTable says what runs of each row take of the machine: the time and device-minutes of one, the time of
// ten and what ten would cost at the price of such a device. Rows whose times say how busy the machine was
// are left out.
func (s *section) costTable() (t table, caption string) {
	t = table{Name: "Time and cost of runs", Head: []heading{{"row", ""}, {"one run", "s"},
		{"one run", "of each device"}, {"ten runs", "minutes"}, {"ten runs", "US dollars"}}}
	var prices, unpriced, units []string
	for _, v := range s.lines {
		one := v.Total.Median
		if !known(one) || v.Disturbed {
			continue
		}
		devices, unit, price, isPriced := float64(v.Cores), "core-minutes", compare.Prices()[0], true
		if v.IsOnGPU() {
			unit, devices = "GPU-minutes", math.NaN() // how many is not told
			if n := v.NumGPUs(); n > 0 {
				devices = float64(n)
			}
			names := v.GPUNames()
			if price, isPriced = compare.PriceOf(names); !isPriced && len(names) > 0 {
				unpriced = addNew(unpriced, strings.Join(names, " with "))
			}
		}
		units = addNew(units, unit)
		dollars := cell{Text: dash}
		if isPriced {
			dollars.Text = digits(compare.Cost(10*one, devices, price.Device()), 3)
			prices = addNew(prices, price.Text())
		}
		t.Rows = append(t.Rows, row{Cells: []cell{v.name(), {Text: seconds(one)},
			{Text: digits(compare.DeviceMinutes(one, devices), 3), Small: unit},
			{Text: digits(compare.DeviceMinutes(10*one, 1), 3)}, dollars}})
	}
	used, rented := "the cores that the row keeps busy", "these cores"
	if !slices.Equal(units, []string{"core-minutes"}) {
		used, rented = "the cores that the row keeps busy, or on its GPUs", "these devices"
	}
	t.sayUnit(2, units)
	caption = "Medians of the runs' training and evaluation, without starting processes, on " + used +
		". Ten runs are ten times one."
	if len(prices) > 0 {
		caption += fmt.Sprintf(" Dollars are a projection: %s were not rented; the price is that of %s.",
			rented, strings.Join(prices, ", or of "))
	}
	if len(unpriced) > 0 {
		caption += fmt.Sprintf(" No price is known here of a machine with %s.",
			strings.Join(unpriced, ", or with "))
	}
	return t, caption
}

// sayUnit moves the unit of a column's cells, which they have below, to its head if all have the same.
func (t *table) sayUnit(column int, units []string) {
	if len(units) != 1 {
		return
	}
	t.Head[column].Unit = units[0]
	for i := range t.Rows {
		t.Rows[i].Cells[column].Small = ""
	}
}

// addNew appends text to all unless it is there.
func addNew(all []string, text string) []string {
	if slices.Contains(all, text) {
		return all
	}
	return append(all, text)
}
