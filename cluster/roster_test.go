package cluster_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"lockstep/cluster"
)

func TestRosterTravelsInTheEnvironment(t *testing.T) {
	want := []cluster.RosterHost{{Name: "a", Address: "10.0.0.1", Slots: 2},
		{Name: "b.example", Address: "fe80::1", Slots: 4, Cores: 8}}
	e := cluster.RosterEnvironment(want)
	if got, err := e.Roster(); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v: %v, %v", e, got, err)
	}
	if got, err := (cluster.Environment{}).Roster(); err != nil || got != nil {
		t.Errorf("without hosts: %v, %v", got, err)
	}
	for _, text := range []string{"a", "a=10.0.0.1", "a=10.0.0.1=0", "a=10.0.0.1=x", "a=host=1",
		"a=0.0.0.0=1", "=10.0.0.1=1", "a=10.0.0.1=1=0", "a=10.0.0.1=1=1=1", "a=10.0.0.1=1,a=10.0.0.2=1", ",",
		"a=10.0.0.1=99999999"} {
		_, err := cluster.Environment{cluster.EnvHosts: text}.Roster()
		if wrong := (*cluster.EnvironmentError)(nil); !errors.As(err, &wrong) ||
			!strings.Contains(wrong.Text, cluster.EnvHosts) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestOrdersAreChecked(t *testing.T) {
	const process = `{"rank":1,"arguments":["worker"],"log":"logs/rank1.log"}`
	const start = `{"run":"x","start":{"processes":[` + process + `]}}`
	if o, err := cluster.ParseOrder([]byte(start)); err != nil || o.Start.Processes[0].Rank != 1 {
		t.Errorf("%+v, %v", o, err)
	}
	with := func(old, text string) string { return strings.Replace(start, old, text, 1) }
	for text, want := range map[string]string{
		"":                              "JSON",
		`{"run":"x"}`:                   "0 things",
		`{"run":"x","quit":1,"kill":1}`: "2 things",
		`{"kill_all":true}`:             "name the launch",
		`{"run":"x","start":{}}`:        "0 processes",
		with("logs/", "../"):            "below the agent's folder",
		with("logs/", "/tmp/"):          "below the agent's folder",
		with(`"rank":1`, `"rank":-1`):   "rank -1",
		with("]}}", ","+process+"]}}"):  "rank 1 twice",

		start + strings.Repeat(" ", cluster.MaxOrder): "bytes",
	} {
		if _, err := cluster.ParseOrder([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, want %q", text, err, want)
		}
	}
}

// A process that ends badly is reported with its number, its log and the line that says why.
func TestAgentReportsAnEnd(t *testing.T) {
	reports := make(chan cluster.Report, 10)
	folder := t.TempDir()
	a := cluster.NewAgent(folder, cluster.ProcessEnvironment(), func(r cluster.Report) { reports <- r })
	defer a.Close()
	order := cluster.Order{Run: "x", Start: &cluster.Start{
		Environment: cluster.Environment{behaviour: "well", cluster.EnvWorld: "2"},
		Processes:   []cluster.StartProcess{{Rank: 1, Arguments: []string{"worker"}, Log: "logs/rank1.log"}},
	}}
	a.Do(order)
	output, exit := <-reports, <-reports
	if o := output.Output; o == nil || o.Rank != 1 || !strings.HasPrefix(o.Path, folder) ||
		!strings.Contains(o.Text, "no rendezvous") {
		t.Errorf("%+v, want the log", output)
	}
	if x := exit.Exit; x == nil || x.Rank != 1 || x.PID == 0 || x.Status != 2 ||
		!strings.Contains(x.Text, "no rendezvous") {
		t.Errorf("%+v, want status 2", exit)
	}
	rank := 7
	for _, o := range []cluster.Order{{Run: "x", KillAll: true}, {Run: "x", Quit: &rank},
		{Run: "y", Kill: &rank}} {
		a.Do(o) // about processes that do not run
	}
	a.Do(cluster.Order{Run: "x"})
	if r := <-reports; !strings.Contains(r.Refused, "0 things") {
		t.Errorf("%+v", r)
	}
	a.Close()
	a.Do(order)
	if r := <-reports; !strings.Contains(r.Refused, "ending") {
		t.Errorf("%+v", r)
	}
}

// What each host has of a run follows from the slots alone, so commands can say it before anything starts.
func TestLoadsOfHosts(t *testing.T) {
	e := cluster.RosterEnvironment([]cluster.RosterHost{{Name: "a", Address: "10.0.0.1", Slots: 2, Cores: 4},
		{Name: "b", Address: "10.0.0.2", Slots: 1}, {Name: "c", Address: "10.0.0.3", Slots: 3}})
	for _, test := range []struct {
		e                cluster.Environment
		workers, servers int
		want             []int
	}{
		{e, 1, 0, []int{0}}, {e, 3, 0, []int{0, 0, 1}}, {e, 6, 0, []int{0, 0, 1, 2, 2, 2}},
		{e, 3, 1, []int{0, 0, 1, 0}}, {e, 4, 3, []int{0, 0, 1, 2, 0, 1, 2}}, {e, 7, 0, nil},
		{cluster.Environment{}, 3, 0, nil},
	} {
		got, err := test.e.HostNumbers(test.workers, test.servers)
		if !slices.Equal(got, test.want) || (err != nil) != (test.workers == 7) {
			t.Errorf("%d workers, %d servers: %v, %v; want %v", test.workers, test.servers, got, err,
				test.want)
		}
		sum := 0
		for _, l := range test.e.Loads(test.workers, test.servers) {
			sum += l.Workers + l.Servers
		}
		if sum != len(test.want) {
			t.Errorf("%d workers, %d servers: loads of %d in all", test.workers, test.servers, sum)
		}
	}
	if !e.IsApart(1, 1) && e.IsApart(2, 0) {
		t.Error("two workers of one host are taken for apart")
	}
}

func TestOnHostsTakesTheFirst(t *testing.T) {
	e := cluster.RosterEnvironment([]cluster.RosterHost{{Name: "a", Address: "10.0.0.1", Slots: 2},
		{Name: "b", Address: "10.0.0.2", Slots: 1}})
	on, err := e.OnHosts(2, 1)
	if err != nil || on[cluster.EnvHosts] != "a=10.0.0.1=1,b=10.0.0.2=1" {
		t.Errorf("%v, %v", on, err)
	}
	lab := cluster.LabEnvironment([]cluster.LabHost{{Name: "host0", Address: "10.0.0.1", Namespace: "/n"},
		{Name: "host1", Address: "10.0.0.2", Namespace: "/m"}})
	if on, err := lab.OnHosts(1, 9); err != nil || on[cluster.EnvLab] != "host0=10.0.0.1=/n" {
		t.Errorf("%v, %v", on, err)
	}
	for _, test := range []struct {
		hosts, perHost int
		want           string
	}{{3, 1, "3 hosts, but there are 2"}, {0, 1, "0 hosts"}, {2, 2, "b has 1 slots"}} {
		if _, err := e.OnHosts(test.hosts, test.perHost); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%d hosts with %d each: %v, want %q", test.hosts, test.perHost, err, test.want)
		}
	}
}
