package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"lockstep/comm/shm"
)

// LaunchConfig describes the processes of a run on this machine: its workers and, if it has any,
// servers, which are launched and supervised in the same way.
type LaunchConfig struct {
	// World is the number of ranks, at least 1.
	World int
	// Servers is how many of them, the last ones, are servers; the others are workers.
	Servers int
	// Threads is the number of compute threads of each worker; a server has one. If the processes
	// together use all processors, each is bound to its own; with 0 none is.
	Threads int
	// Command starts one worker, which reads its rank from the environment; ServerCommand starts one
	// server.
	Command, ServerCommand []string
	// Environment of the workers, without rank, world, address and token, which Launch adds. In a
	// lab (LabEnvironment) the workers are distributed over its hosts in contiguous blocks.
	Environment Environment
	// Meeting, if not nil, is where the workers other than rank 0's join: another launcher has started
	// their processes. Only rank 0 and the servers are started here. Processes join in the current
	// folder of their own, and stay until Meeting.End.
	Meeting *Meeting
	// Hosts names the host of each worker, by rank, for workers that treat parts of this machine as
	// separate hosts. Nil means that all are on this machine, or on the hosts of the lab.
	Hosts []string
	// Host is the interface of the rendezvous; default 127.0.0.1. It may not be a wildcard. In a
	// lab a loopback address means that of the first host.
	Host string
	// Port of the rendezvous; 0 picks a free one. With 0 on a loopback address there is no
	// rendezvous: the workers inherit their connections.
	Port int
	// Log returns the path of the file for a worker's output.
	Log func(rank int) string
	// ISA forces a kernel path; "" selects the best that all workers have.
	ISA string
	// SharedMemory links the workers of a host by shared memory instead of TCP.
	SharedMemory bool
	// Job is sent to every worker as JSON.
	Job any
	// JoinTimeout bounds the time until all workers have joined; default one minute, or five for a
	// Meeting of several hosts.
	JoinTimeout time.Duration
	// SilenceTimeout is the time without a beat after which a worker counts as dead; default eight
	// seconds. The worker itself reports how long it may go without progress (Progress.Limit).
	SilenceTimeout time.Duration
	// StopGrace is how long workers may take to end after a stop before they are killed; default
	// three seconds.
	StopGrace time.Duration
	// Progress, if not nil, is called from Launch's goroutine with each report.
	Progress func(rank int, p Progress)
	// MayLose reports whether the run goes on without a rank that ends without a report, or is dead
	// or stuck, once all have joined. Nil means that every rank is needed.
	MayLose func(rank int) bool
	// Lost, if not nil, is called from Launch's goroutine when the run goes on without a rank.
	Lost func(*WorkerError)
	// Asked, if not nil, is called from Launch's goroutine when a worker that another launcher has
	// started was asked by a signal to stop.
	Asked func()
	// Event, if not nil, is called from Launch's goroutine with each event of a worker
	// (Session.Tell), in order. An error ends the run.
	Event func(rank int, event json.RawMessage) error
}

const defaultJoinTimeout = time.Minute

// Launch starts c.World worker processes, connects them, and returns their results by rank as JSON
// when all have ended successfully; that of a rank that was lost is nil (see MayLose). When one
// fails or dies it kills the others and returns a *WorkerError about the first. When ctx is
// cancelled it asks all to stop, kills them after c.StopGrace, and returns a *StopError with ctx's
// error. No worker runs any more when it returns.
func Launch(ctx context.Context, c LaunchConfig) ([]json.RawMessage, error) {
	if c.Host == "" {
		c.Host = "127.0.0.1"
	}
	if c.JoinTimeout == 0 {
		c.JoinTimeout = defaultJoinTimeout
		if c.Meeting != nil && c.Meeting.socket == "" {
			c.JoinTimeout = meetTime
		}
	}
	if c.StopGrace == 0 {
		c.StopGrace = stopGrace
	}
	if c.SilenceTimeout == 0 {
		c.SilenceTimeout = defaultSilence
	}
	job, err := json.Marshal(c.Job)
	if err != nil {
		return nil, fmt.Errorf("cluster: launch: encode the job: %w", err)
	}
	networks, err := c.resolveHosts()
	if err != nil {
		return nil, err
	}
	events := make(chan event)
	token := NewToken()
	if c.Meeting != nil {
		token = c.Meeting.token
	}
	meeting := newCoordinator(c.World, token, events)
	defer meeting.close()
	if c.Meeting != nil {
		meeting.attend(c.Meeting)
	} else if c.hasRendezvous() {
		if err := meeting.listen(c.Host, c.Port); err != nil {
			return nil, err
		}
	}
	workers, err := c.start(meeting, token, networks)
	if err != nil {
		return nil, err
	}
	s := &supervisor{LaunchConfig: c, job: job, meeting: meeting, fleet: workers, events: events,
		workers: make([]worker, c.World), vitals: make([]vitals, c.World),
		running: workers.count()}
	err = s.supervise(ctx)
	workers.wait()
	if err != nil {
		return nil, err
	}
	results := make([]json.RawMessage, c.World)
	for rank, w := range s.workers {
		results[rank] = w.result
	}
	return results, nil
}

// resolveHosts returns the network namespaces of the lab by rank, or nil outside a lab. It sets the
// workers' host names and moves the rendezvous to an address that all of them reach.
func (c *LaunchConfig) resolveHosts() (networks []string, err error) {
	lab, err := c.Environment.LabHosts()
	if err != nil || len(lab) == 0 || c.Meeting != nil {
		return nil, err
	}
	if c.SharedMemory && c.Environment.IsApart(c.World) {
		return nil, environmentErrorf("%s: each worker is on a host of its own, and hosts share no memory; "+
			"link them by tcp", EnvLab)
	}
	if ip := net.ParseIP(c.Host); ip != nil && ip.IsLoopback() {
		c.Host = lab[0].Address
	}
	c.Hosts = make([]string, c.World)
	networks = make([]string, c.World)
	for rank := range networks {
		host := lab[labHost(rank, c.World, len(lab))]
		c.Hosts[rank], networks[rank] = host.Name, host.Namespace
	}
	return networks, nil
}

// hasRendezvous reports whether workers connect by TCP. Without a given port on a loopback address
// nobody else can, because no other process knows the port.
func (c *LaunchConfig) hasRendezvous() bool {
	ip := net.ParseIP(c.Host)
	return !hasSocketPairs || c.Port != 0 || ip == nil || !ip.IsLoopback()
}

// start starts the workers, with their control connections unless they dial, and with their shared
// memory if they use it.
func (c LaunchConfig) start(meeting *coordinator, token Token, networks []string) (*localFleet, error) {
	processes := c.processes(meeting, token)
	for rank, path := range networks {
		processes[rank].network = path
	}
	var passed []*os.File
	defer func() {
		for _, f := range passed {
			f.Close() // the children have their own descriptors
		}
	}()
	if c.Meeting != nil || meeting.listener == nil {
		ends, err := meeting.connect(processes)
		if passed = append(passed, ends...); err != nil {
			return nil, fmt.Errorf("cluster: launch: %w", err)
		}
	}
	if c.SharedMemory {
		segments, err := share(processes)
		if c.Meeting != nil {
			meeting.segments = segments
		} else {
			passed = append(passed, segments...)
		}
		if err != nil {
			return nil, fmt.Errorf("cluster: launch: %w", err)
		}
	}
	return startFleet(processes, meeting.post)
}

// share creates a segment of shared memory for each host with several processes, and returns the
// segments.
func share(processes []process) (segments []*os.File, err error) {
	ranks := map[string][]int{}
	for rank, p := range processes {
		host := p.environment[EnvHost]
		ranks[host] = append(ranks[host], rank)
	}
	for _, host := range slices.Sorted(maps.Keys(ranks)) {
		if len(ranks[host]) == 1 {
			continue
		}
		segment, err := shm.Create(len(ranks[host]))
		if err != nil {
			return segments, err
		}
		segments = append(segments, segment)
		for _, rank := range ranks[host] {
			processes[rank].segment = segment
		}
	}
	return segments, nil
}

func (c LaunchConfig) processes(meeting *coordinator, token Token) []process {
	host, port := c.Host, 0
	if a := meeting.address(); a != nil {
		host, port = a.IP.String(), a.Port
	}
	processes := make([]process, c.World)
	shares := assign(processors(), c.threads())
	for rank := range processes {
		processes[rank] = process{name: c.name(rank), command: c.command(rank), log: c.Log(rank),
			environment: c.Environment.With(Environment{
				EnvRank:       strconv.Itoa(rank),
				EnvWorld:      strconv.Itoa(c.World),
				envTorchRank:  strconv.Itoa(rank), // the launcher's own environment may have others
				envTorchWorld: strconv.Itoa(c.World),
				EnvMasterAddr: host,
				EnvMasterPort: strconv.Itoa(port),
				EnvToken:      string(token),
				envControl:    "", // the launcher may itself be a worker
				envSegment:    "",
			})}
		if c.Hosts != nil {
			processes[rank].environment[EnvHost] = c.Hosts[rank]
		}
		if shares != nil {
			processes[rank].processors = shares[rank]
		}
	}
	return processes
}
