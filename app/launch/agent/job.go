package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"lockstep/cluster"
)

// Job is a command on hosts.
type Job struct {
	// Arguments are those of lockstep: the command with its flags.
	Arguments []string
	// Environment is what the command has besides the environment of its host, with the roster.
	Environment cluster.Environment
	// Folder is the name of the job's folder on hosts, and First that on the first host, where "" stands
	// for the current folder of its agent.
	Folder, First string
	// Stdout and Stderr take what the command writes.
	Stdout, Stderr io.Writer
	// Signals are passed on to the command. A Ctrl-C after another one kills the job.
	Signals <-chan os.Signal
	// Grace is the time that the command has to end after that; 0: three seconds.
	Grace time.Duration
}

// Outcome says how a command on hosts has ended.
type Outcome struct {
	Status  int    // exit status; 128 and the number of a signal that ended the command
	Signal  string // that ended it; "": none
	IsAsked bool   // a signal has asked it to end
	Lost    []int  // hosts that were lost meanwhile, by number
}

// askTime is the time in which an agent has to answer an ask about a job.
const askTime = 10 * time.Second

// Run runs the command on the first of the hosts, and carries its orders to the agents of the others. When it
// returns, nothing of the command runs any more on a host that is not lost. The error is a *HostError if a
// host is lost before the command has started, or if the first one is lost later; an *AskError; an error of
// writing the command's output, for which the command is killed; or that of ctx.
func (j Job) Run(ctx context.Context, hosts []*Connection) (Outcome, error) {
	r := &router{Job: j, hosts: hosts, arrivals: make(chan arrival), done: make(chan struct{}),
		lost: make([]bool, len(hosts))}
	for k, c := range hosts {
		c.attach(func(m message) { r.hear(arrival{host: k, message: m}) })
		r.watching.Go(func() {
			select {
			case <-c.Done():
				r.hear(arrival{host: k, lost: c.Err()})
			case <-r.done:
			}
		})
	}
	outcome, err := r.run(ctx)
	close(r.done)
	r.watching.Wait()
	ended, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	Each(hosts, func(_ int, c *Connection) error {
		_, err := c.Ask(ended, askEnd, nil)
		c.attach(nil)
		return err
	})
	return outcome, err
}

// router carries lines between the command and the agents. Its state belongs to the goroutine of run.
type router struct {
	Job
	hosts    []*Connection
	arrivals chan arrival
	done     chan struct{}
	watching sync.WaitGroup

	lost     []bool // by host
	hasBegun bool
	early    []string // signals that came before, which the command gets when it has begun
	outcome  Outcome
}

// arrival is a line of a host's agent, or the news that the host is lost.
type arrival struct {
	host    int
	message message
	lost    *HostError
}

// hear hands an arrival to run, if it still waits for one.
func (r *router) hear(a arrival) {
	select {
	case r.arrivals <- a:
	case <-r.done:
	}
}

// begin lets all hosts make room, and starts the command.
func (r *router) begin(ctx context.Context) error {
	err := Each(r.hosts, func(k int, c *Connection) error {
		folder := r.Folder
		if k == 0 {
			folder = r.First
		}
		if c.isClosed() {
			return nil // that it is lost comes as an arrival
		}
		return tell(ctx, c, askBegin, folderAsk{folder})
	})
	if err != nil {
		return err
	}
	return tell(ctx, r.hosts[0], askStart, startAsk{Arguments: r.Arguments, Environment: r.Environment})
}

// tell asks for something that has no answer. A host that does not do it within askTime counts as lost.
func tell(ctx context.Context, c *Connection, name string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	late, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	_, err = c.Ask(late, name, text)
	if err != nil && late.Err() != nil && ctx.Err() == nil {
		return &HostError{Host: c.Host.Name, IsLost: true, Text: fmt.Sprintf("its agent has not answered "+
			"within %v: its disk hangs, or the agent is stopped", askTime)}
	}
	return err
}

// run handles what arrives until the command has ended.
func (r *router) run(ctx context.Context) (Outcome, error) {
	begun := make(chan error, 1)
	go func() { begun <- r.begin(ctx) }()
	var kill <-chan time.Time
	for {
		select {
		case err := <-begun:
			if err != nil {
				return r.outcome, err
			}
			r.hasBegun = true
			for _, name := range r.early {
				r.hosts[0].line.send(message{Signal: name}) // an error means that the host is lost
			}
		case a := <-r.arrivals:
			isOver, err := r.handle(a)
			if isOver || err != nil {
				return r.outcome, err
			}
		case s := <-r.Signals:
			if r.pass(s) {
				kill = time.After(max(r.Grace, killGrace))
			}
		case <-kill:
			r.outcome.Status = 128 + 2 // as a shell says it of SIGINT
			return r.outcome, nil
		case <-ctx.Done():
			return r.outcome, ctx.Err()
		}
	}
}

// killGrace is the default of Job.Grace.
const killGrace = 3 * time.Second

// pass passes a signal on, and reports whether the job is to be killed if that does not end it: at a Ctrl-C
// after another signal.
func (r *router) pass(s os.Signal) bool {
	name := nameOf(s)
	if r.hasBegun {
		r.hosts[0].line.send(message{Signal: name}) // an error means that the host is lost
	} else {
		r.early = append(r.early, name)
	}
	isFinal := r.outcome.IsAsked && s == os.Interrupt
	r.outcome.IsAsked = true
	return isFinal
}

// handle handles one arrival, and reports whether the command has ended.
func (r *router) handle(a arrival) (isOver bool, err error) {
	m := a.message
	switch {
	case a.lost != nil && a.host == 0:
		r.outcome.Lost = append(r.outcome.Lost, 0)
		return true, a.lost
	case a.lost != nil:
		r.lost[a.host] = true
		r.outcome.Lost = append(r.outcome.Lost, a.host)
		r.report(a.host, cluster.Report{Lost: a.lost.Text})
	case a.host > 0 && m.Envelope != nil:
		r.deliver(cluster.Envelope{Host: a.host, Report: m.Envelope.Report})
	case a.host > 0:
		// Only the first host has a command.
	case m.Envelope != nil:
		r.order(*m.Envelope)
	case m.Output != nil:
		return false, r.print(*m.Output)
	case m.Exit != nil:
		r.outcome.Status, r.outcome.Signal = m.Exit.Status, m.Exit.Signal
		return true, nil
	}
	return false, nil
}

// print writes a part of the command's output where it belongs.
func (r *router) print(o output) error {
	w := r.Stdout
	if o.Stream == 2 {
		w = r.Stderr
	}
	_, err := w.Write(o.Bytes)
	return err
}

// order carries an order of the command to its host.
func (r *router) order(e cluster.Envelope) {
	if e.Host < 1 || e.Host >= len(r.hosts) {
		return
	}
	c := r.hosts[e.Host]
	if r.lost[e.Host] {
		r.report(e.Host, cluster.Report{Lost: c.Err().Text})
		return
	}
	c.line.send(message{Envelope: &cluster.Envelope{Host: e.Host, Order: e.Order}}) // or it is lost
}

// report reports something about a host to the command.
func (r *router) report(host int, report cluster.Report) {
	if text, err := json.Marshal(report); err == nil {
		r.deliver(cluster.Envelope{Host: host, Report: text})
	}
}

// deliver carries a report to the command.
func (r *router) deliver(e cluster.Envelope) {
	r.hosts[0].line.send(message{Envelope: &e}) // an error means that the first host is lost
}

// Claim makes the folder of a job on a host. It goes with the agent, or when the next agent starts there,
// unless the command has run there, whose results it has. The error is a *HostError, or that of ctx.
func Claim(ctx context.Context, c *Connection, folder string) error {
	err := tell(ctx, c, askClaim, folderAsk{folder})
	if asked := (*AskError)(nil); errors.As(err, &asked) {
		return &HostError{Host: c.Host.Name, Text: "no folder can be made for the job: " + asked.Text}
	}
	return err
}

// Clear removes the folder of a job that has ended from a host.
func Clear(ctx context.Context, c *Connection, folder string) error {
	return tell(ctx, c, askClear, folderAsk{folder})
}

// IsLost reports whether err says that a host is lost.
func IsLost(err error) bool {
	host := (*HostError)(nil)
	return errors.As(err, &host) && host.IsLost
}
