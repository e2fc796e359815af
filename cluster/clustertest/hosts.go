package clustertest

import (
	"bufio"
	"encoding/json"
	"net"
	"strconv"
	"sync"
	"testing"

	"lockstep/cluster"
)

// Hosts is a launcher's own host and others with agents, which all are this machine. What lies between them
// in a job, the console, is a goroutine.
type Hosts struct {
	// Environment is that of the launcher on the first host.
	Environment cluster.Environment
	// Folders are those of the hosts' agents; "" for the first, which has none.
	Folders []string

	agents  []*cluster.Agent
	own     net.Conn
	writing sync.Mutex
	routing sync.WaitGroup
	lost    map[int]string // why, by host; belongs to writing
}

// New returns hosts with these names and so many slots each, until the test ends. Processes on them have the
// variables of e.
func New(t testing.TB, e cluster.Environment, slots int, names ...string) *Hosts {
	t.Helper()
	own, theirs, err := cluster.AgentConnection()
	if err != nil {
		t.Fatal(err)
	}
	h := &Hosts{own: own, lost: map[int]string{}}
	roster := make([]cluster.RosterHost, len(names))
	for i, name := range names {
		roster[i] = cluster.RosterHost{Name: name, Address: "127.0.0." + strconv.Itoa(i+1), Slots: slots}
		var agent *cluster.Agent
		folder := ""
		if i > 0 {
			folder = t.TempDir()
			agent = cluster.NewAgent(folder, e, func(r cluster.Report) { h.report(i, r) })
		}
		h.agents, h.Folders = append(h.agents, agent), append(h.Folders, folder)
	}
	h.Environment = e.With(cluster.RosterEnvironment(roster)).With(cluster.Environment{
		cluster.EnvAgent: strconv.Itoa(int(theirs.Fd()))})
	h.routing.Go(h.route)
	t.Cleanup(func() {
		theirs.Close()
		own.Close()
		h.routing.Wait()
		for i := range names {
			h.end(i)
		}
	})
	return h
}

// Lose ends a host: its processes are killed, and the launcher is told why.
func (h *Hosts) Lose(host int, why string) {
	h.writing.Lock()
	h.lost[host] = why
	h.writing.Unlock()
	h.end(host)
	h.report(host, cluster.Report{Lost: why})
}

// end ends the agent of a host.
func (h *Hosts) end(host int) {
	if a := h.agents[host]; a != nil {
		a.Close()
	}
}

// route takes the launcher's orders to the agents, until the connection ends.
func (h *Hosts) route() {
	for lines := bufio.NewReaderSize(h.own, cluster.MaxOrder); ; {
		text, err := lines.ReadSlice('\n')
		if err != nil {
			return
		}
		var e cluster.Envelope
		if err := json.Unmarshal(text, &e); err != nil {
			panic(err)
		}
		o, err := cluster.ParseOrder(e.Order)
		if err != nil {
			panic(err)
		}
		h.writing.Lock()
		why := h.lost[e.Host]
		h.writing.Unlock()
		if why != "" {
			h.report(e.Host, cluster.Report{Lost: why})
			continue
		}
		h.agents[e.Host].Do(o)
	}
}

// report takes a report to the launcher. Of a host that is lost nothing else is heard.
func (h *Hosts) report(host int, r cluster.Report) {
	h.writing.Lock()
	defer h.writing.Unlock()
	if h.lost[host] != "" && r.Lost == "" {
		return
	}
	text, err := json.Marshal(r)
	if err == nil {
		text, err = json.Marshal(cluster.Envelope{Host: host, Report: text})
	}
	if err != nil {
		panic(err)
	}
	h.own.Write(append(text, '\n')) // an error means that the test is over
}
