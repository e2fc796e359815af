package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
)

// Note: orders and reports
//
// The launcher of a run on several hosts starts the processes of its own host itself. For each other host it
// sends orders, which the host's agent carries out and answers by reports. Both are lines of JSON. The
// launcher writes and reads them, as envelopes with the number of the host, at a socket that it inherits
// from the agent of its own host (LOCKSTEP_AGENT). Who carries envelopes between hosts does not look inside;
// it only reports a host as lost when it cannot reach it any more.
//
// The processes of one launch have a name, Order.Run, that no other launch has. So what is still under way
// when a launch ends does not concern the next one at the same socket.

// Order is what a launcher asks the agent of another host to do: exactly one of Start, Quit, Kill and KillAll
// is set.
type Order struct {
	Run     string `json:"run"` // name of the launch
	Start   *Start `json:"start,omitempty"`
	Quit    *int   `json:"quit,omitempty"` // rank of a process that is to write its stacks and end
	Kill    *int   `json:"kill,omitempty"` // rank of a process to kill
	KillAll bool   `json:"kill_all,omitempty"`
}

// Start asks for all processes of a launch on one host.
type Start struct {
	Processes []StartProcess `json:"processes"`
	// Environment replaces variables of the agent's own; ranks are added.
	Environment Environment `json:"environment"`
	// SharesMemory asks for memory that links the processes.
	SharesMemory bool `json:"shares_memory,omitempty"`
}

// StartProcess is one process to start.
type StartProcess struct {
	Rank      int      `json:"rank"`
	Name      string   `json:"name"`      // for people, see Name
	Arguments []string `json:"arguments"` // of the agent's own program
	Threads   int      `json:"threads"`   // for which it needs processors; 0: do not bind any
	Log       string   `json:"log"`       // file for its output, a path below the agent's folder
}

// Report is what an agent, or who connects it, tells a launcher. Exactly one of Refused, Output, Exit and
// Lost is set.
type Report struct {
	Run     string  `json:"run,omitempty"`     // of the order; "" with Lost
	Refused string  `json:"refused,omitempty"` // why nothing was started
	Output  *Output `json:"output,omitempty"`
	Exit    *Exit   `json:"exit,omitempty"`
	Lost    string  `json:"lost,omitempty"` // why nothing more is heard of the host
}

// Output is a part of the end of a process's log. All parts come in order before its Exit.
type Output struct {
	Rank int    `json:"rank"`
	Path string `json:"path"` // of the log on its host
	Text string `json:"text"`
}

// Exit says how a process has ended.
type Exit struct {
	Rank   int    `json:"rank"`
	PID    int    `json:"pid"`              // on its host
	Signal string `json:"signal,omitempty"` // that ended it; "" if it ended by itself
	Status int    `json:"status"`
	Text   string `json:"text,omitempty"`  // most informative line of its log; "" after status 0
	Cause  string `json:"cause,omitempty"` // likely one outside the program; "" if unknown
}

// Envelope is one line between a launcher and the agent of its own host: an Order for another host, or a
// Report about it, with the number of the host in the roster.
type Envelope struct {
	Host   int             `json:"host"`
	Order  json.RawMessage `json:"order,omitempty"`
	Report json.RawMessage `json:"report,omitempty"`
}

// MaxOrder is the size in bytes of the longest order or report, with its envelope.
const MaxOrder = maxLine

// maxStarted bounds the processes of one order.
const maxStarted = 1024

// ParseOrder reads an order and checks it.
func ParseOrder(text []byte) (o Order, err error) {
	if len(text) > MaxOrder {
		return o, fmt.Errorf("cluster: order of %d bytes, at most %d are allowed", len(text), MaxOrder)
	}
	if err = json.Unmarshal(text, &o); err == nil {
		err = o.check()
	}
	if err != nil {
		return o, fmt.Errorf("cluster: order: %w", err)
	}
	return o, nil
}

// check refuses an order that asks for nothing, for several things, or for what no launcher needs.
func (o Order) check() error {
	asked := 0
	for _, isAsked := range []bool{o.Start != nil, o.Quit != nil, o.Kill != nil, o.KillAll} {
		if isAsked {
			asked++
		}
	}
	switch {
	case asked != 1:
		return fmt.Errorf("asks for %d things, want 1 of start, quit, kill and kill_all", asked)
	case o.Run == "":
		return errors.New("does not name the launch")
	case o.Start != nil:
		return o.Start.check()
	}
	return nil
}

func (s Start) check() error {
	if n := len(s.Processes); n < 1 || n > maxStarted {
		return fmt.Errorf("start %d processes, want 1 to %d", n, maxStarted)
	}
	taken := map[int]bool{}
	for _, p := range s.Processes {
		switch {
		case p.Rank < 0 || p.Rank >= MaxWorld:
			return fmt.Errorf("start rank %d, want 0 to %d", p.Rank, MaxWorld-1)
		case taken[p.Rank]:
			return fmt.Errorf("start rank %d twice", p.Rank)
		case !filepath.IsLocal(filepath.FromSlash(p.Log)):
			return fmt.Errorf("start rank %d with the log %q, want a path below the agent's folder", p.Rank,
				p.Log)
		}
		taken[p.Rank] = true
	}
	return nil
}
