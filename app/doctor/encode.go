package doctor

import (
	"encoding/json"
	"slices"

	"lockstep/app/record"
)

// maxEncoded is how many bytes an environment variable may have: Linux allows 128 KiB.
const maxEncoded = 100 << 10

// Encode returns what was found as JSON that fits an environment variable. Of many hosts it leaves out routes
// that are not used, then all but those that were measured, then what is not needed to tell them apart.
func Encode(h *record.Hosts) string {
	short := *h
	isUsed := func(r record.Route) bool { return r.IsChosen }
	isMeasured := func(r record.Route) bool { return r.IsChosen && r.Rate > 0 }
	for _, cut := range []func(){
		func() {},
		func() { short.Routes = keep(h.Routes, isUsed) },
		func() { short.Routes = keep(h.Routes, isMeasured) },
		func() {
			short.Hosts = slices.Clone(h.Hosts)
			for i := range short.Hosts {
				short.Hosts[i].Interfaces, short.Hosts[i].Disks = nil, nil
			}
		},
		func() { short.Routes = short.Routes[:min(len(short.Routes), allRates*allRates)] },
		func() { short.Findings = h.Findings[:min(len(h.Findings), allRates*allRates)] },
	} {
		cut()
		text, err := json.Marshal(short)
		if err == nil && len(text) <= maxEncoded {
			return string(text)
		}
	}
	return "" // of hundreds of hosts
}

// keep returns the routes for which a condition holds.
func keep(routes []record.Route, holds func(record.Route) bool) []record.Route {
	return slices.DeleteFunc(slices.Clone(routes), func(r record.Route) bool { return !holds(r) })
}
