package record_test

import (
	"encoding/json"
	"testing"

	"lockstep/app/record"
)

// A server with a worker has no figures of a process, which 0 would claim to have measured; one apart has.
func TestServerWithAWorkerHasNoFiguresOfAProcess(t *testing.T) {
	apart := record.ServerStat{PeakRSSBytes: 1, PlannedBytes: 2, Cores: record.CoreTimes{Own: 3}}
	for _, test := range []struct {
		server record.ServerStat
		want   bool
	}{{record.ServerStat{}, false}, {apart, true}} {
		text, err := json.Marshal(test.server)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"peak_rss_bytes", "core_seconds", "planned_bytes"} {
			if _, is := fields[name]; is != test.want {
				t.Errorf("%s: %s is there: %v, want %v", text, name, is, test.want)
			}
		}
		if _, is := fields["updates"]; !is {
			t.Errorf("%s: its own figures are left out", text)
		}
	}
}
