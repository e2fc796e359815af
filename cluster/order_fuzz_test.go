package cluster_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"lockstep/cluster"
)

// FuzzOrder parses an order, as an agent does that gets one from the console. One that is accepted means the
// same when it is written and read again, and names no file outside of the agent's folder.
func FuzzOrder(f *testing.F) {
	f.Add([]byte(`{"run":"x","start":{"processes":[{"rank":1,"arguments":["worker"],"log":"logs/x/1",` +
		`"threads":2}],"environment":{"LOCKSTEP_WORLD":"2"},"shares_memory":true}}`))
	f.Add([]byte(`{"run":"x","quit":1}`))
	f.Add([]byte(`{"run":"x","kill":70000}`))
	f.Add([]byte(`{"run":"x","kill_all":true}`))
	agent := cluster.NewAgent(f.TempDir(), cluster.Environment{}, func(cluster.Report) {})
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := cluster.ParseOrder(text)
		if err != nil {
			return
		}
		if len(text) > cluster.MaxOrder {
			t.Fatalf("an order of %d bytes", len(text))
		}
		again, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if o.Start == nil {
			agent.Do(o) // of a launch that it does not know
		} else {
			for _, p := range o.Start.Processes {
				if at := filepath.Join("/agent", p.Log); !strings.HasPrefix(at, "/agent") || p.Rank < 0 {
					t.Fatalf("%+v", p)
				}
			}
		}
		if back, err := cluster.ParseOrder(again); err == nil && !reflect.DeepEqual(o, back) {
			t.Fatalf("%+v becomes %+v", o, back)
		}
	})
}

// FuzzReport says lines to a launcher that waits for two ranks of another host. Whatever they are, each of
// its ranks ends once, none of the launcher's own does, and a lost host is named once.
func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"host":1,"report":{"run":"x","started":[{"rank":2,"pid":7},{"rank":3,"pid":8}]}}` + "\n" +
		`{"host":1,"report":{"run":"x","output":{"rank":2,"path":"/l","text":"panic: x"}}}` + "\n" +
		`{"host":1,"report":{"run":"x","exit":{"rank":2,"status":2,"text":"panic: x"}}}` + "\n"))
	f.Add([]byte(`{"host":1,"report":{"lost":"gone"}}` + "\n" +
		`{"host":1,"report":{"run":"x","exit":{"rank":3}}}`))
	f.Add([]byte(`{"host":1,"report":{"run":"x","refused":"no"}}` + "\n"))
	f.Add([]byte(`{"host":0,"report":{"run":"x","exit":{"rank":0}}}` + "\n" +
		`{"host":-1,"report":{}}` + "\n"))
	f.Add([]byte(`{"host":1,"report":{"run":"y","exit":{"rank":2}}}` + "\n"))
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, said []byte) {
		log := func(rank int) string { return filepath.Join(folder, cluster.Name(rank, 4)) }
		ends, lost := cluster.Follow(&speaker{said: bytes.NewReader(said)}, log)
		if ends != [4]int{0, 0, 1, 1} {
			t.Fatalf("ends %v", ends)
		}
		if len(lost) > 1 || len(lost) == 1 && lost[0].Host != "b" {
			t.Fatalf("lost %v", lost)
		}
	})
}

// FuzzRoster reads the hosts of a launcher. What is accepted is what RosterEnvironment writes.
func FuzzRoster(f *testing.F) {
	f.Add("a=10.0.0.1=2,b=fe80::1=4=8")
	f.Add("a=10.0.0.1=+2,=,a")
	f.Fuzz(func(t *testing.T, text string) {
		hosts, err := cluster.Environment{cluster.EnvHosts: text}.Roster()
		if err != nil {
			return
		}
		back, err := cluster.RosterEnvironment(hosts).Roster()
		if err != nil || !reflect.DeepEqual(hosts, back) {
			t.Fatalf("%v becomes %v, %v", hosts, back, err)
		}
	})
}
