package doctor

import (
	"encoding/json"
	"slices"

	"lockstep/app/record"
)

// maxEncoded is how many bytes an environment variable may have: Linux allows 128 KiB.
const maxEncoded = 100 << 10

// Encode returns what was found as JSON that fits an environment variable: the facts, the routes that are
// used and the findings. Of many hosts it leaves out the routes, then interfaces and disks; "" if that is
// too much.
func Encode(h *record.Hosts) string {
	short := *h
	short.Routes = slices.DeleteFunc(slices.Clone(h.Routes), func(r record.Route) bool { return !r.IsChosen })
	short.Hosts = slices.Clone(h.Hosts)
	for _, cut := range []func(){
		func() {},
		func() { short.Routes = []record.Route{} },
		func() {
			for i := range short.Hosts {
				short.Hosts[i].Interfaces, short.Hosts[i].Disks = nil, nil
			}
		},
	} {
		cut()
		if text, err := json.Marshal(short); err == nil && len(text) <= maxEncoded {
			return string(text)
		}
	}
	return ""
}
