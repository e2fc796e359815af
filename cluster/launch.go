package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"lockstep/cluster/pass"
	"lockstep/comm/shm"
)

// LaunchConfig describes the processes of a run: its workers and, if it has any, servers, which are
// launched and supervised in the same way. They are on this machine, or also on the other hosts of
// Environment's roster.
type LaunchConfig struct {
	// World is the number of ranks, at least 1.
	World int
	// Servers is how many of them, the last ones, are servers; the others are workers.
	Servers int
	// Threads is the number of compute threads of each worker; a server has one. If the processes
	// together use all processors, each is bound to its own; with 0 none is.
	Threads int
	// Command starts one worker, which reads its rank from the environment; ServerCommand starts one
	// server. On another host the first word is the program of its agent.
	Command, ServerCommand []string
	// Environment of the workers, without rank, world, address and token, which Launch adds. Its
	// LOCKSTEP_GENERATION says how often the job was started before. In a
	// lab (LabEnvironment) the workers are distributed over its hosts in contiguous blocks. On several
	// hosts (RosterEnvironment) they take the slots in order, and servers are spread evenly. Only
	// variables of Lockstep and of the Go runtime reach other hosts.
	Environment Environment
	// Meeting, if not nil, is where the workers other than rank 0's join: another launcher has started
	// their processes. Only rank 0 and the servers are started here. Processes join in the current
	// folder of their own, and stay until Meeting.End.
	Meeting *Meeting
	// Host is the interface of the rendezvous; default 127.0.0.1. It may not be a wildcard. In a
	// lab and on several hosts a loopback address means that of the first host.
	Host string
	// Port of the rendezvous; 0 picks a free one. With 0 on a loopback address there is no
	// rendezvous: the workers inherit their connections.
	Port int
	// Log returns the path of the file for a worker's output. That of a worker on another host is in
	// its agent's folder; the end of it is copied to this path if the worker ends badly.
	Log func(rank int) string
	// SharedMemory links the workers of a host by shared memory instead of TCP.
	SharedMemory bool
	// Encryption of the links between workers: "" encrypts those between hosts, EncryptTLS all that are made
	// by TCP, EncryptNone none. Processes join by TLS in any case.
	Encryption Encryption
	// Streams is the number of connections of each link by TCP, 1 to MaxStreams; 0 for 1. SocketBuffer is
	// that of each in bytes, 0 to MaxSocketBuffer; 0: as the kernel decides.
	Streams, SocketBuffer int
	// Job is sent to every worker as JSON.
	Job any
	// JoinTimeout bounds the time until all workers have joined; default one minute, or five for a
	// Meeting of several hosts.
	JoinTimeout time.Duration
	// SilenceTimeout is the time without a beat after which a worker counts as dead; default five
	// seconds. The worker itself reports how long it may go without progress (Progress.Limit).
	SilenceTimeout time.Duration
	// Starving, if not nil, begins to measure for how long a process of this host has work and no core, and
	// returns what tells it. A worker may be silent for that much longer than SilenceTimeout, up to a minute.
	Starving func(pid int) (lost func() time.Duration)
	// StopGrace is how long workers may take to end after a stop before they are killed; default
	// three seconds.
	StopGrace time.Duration
	// SavesAtStop says that workers finish their step and save their work when they are asked to stop. So
	// they are not killed as long as one that has made steps gets on within its limit (Progress.Limit).
	SavesAtStop bool
	// Progress, if not nil, is called from Launch's goroutine with each report.
	Progress func(rank int, p Progress)
	// MayLose reports whether the run goes on without a rank that ends without a report, or is dead
	// or stuck, once all have joined. Nil means that every rank is needed.
	MayLose func(rank int) bool
	// Lost, if not nil, is called from Launch's goroutine when the run goes on without a rank.
	Lost func(*WorkerError)
	// Refused, if not nil, is called from Launch's goroutine with the reason why a process that has tried to
	// join may not, a few times in a run.
	Refused func(error)
	// Waits, if not nil, is called from Launch's goroutine, once each, if processes of a Meeting take a while
	// to join, with the missing ones, and if no datagrams come from a host.
	Waits func(why error)
	// Asked, if not nil, is called from Launch's goroutine when a worker that another launcher has
	// started was asked by a signal to stop.
	Asked func()
	// Files, if not nil, writes what a worker fetches by name (Session.Fetch). It is called from several
	// goroutines.
	Files func(name string, to io.Writer) error
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
	c.setDefaults()
	job, err := json.Marshal(c.Job)
	if err != nil {
		return nil, fmt.Errorf("cluster: launch: encode the job: %w", err)
	}
	where, err := c.resolveHosts()
	if err != nil {
		return nil, err
	}
	events := make(chan event)
	meeting, err := c.meet(where, events)
	if err != nil {
		return nil, err
	}
	defer meeting.close()
	workers, err := c.start(meeting, where)
	if err != nil {
		return nil, err
	}
	s := &supervisor{LaunchConfig: c, hosts: where.names, job: job, meeting: meeting, fleet: workers,
		events: events, workers: make([]worker, c.World), vitals: make([]vitals, c.World)}
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

// setDefaults fills in what is zero.
func (c *LaunchConfig) setDefaults() {
	c.Host = cmp.Or(c.Host, "127.0.0.1")
	joinTimeout := defaultJoinTimeout
	if c.Meeting != nil && c.Meeting.socket == "" {
		joinTimeout = meetTime
	}
	c.JoinTimeout = cmp.Or(c.JoinTimeout, joinTimeout)
	c.StopGrace = cmp.Or(c.StopGrace, stopGrace)
	c.SilenceTimeout = cmp.Or(c.SilenceTimeout, defaultSilence)
}

// meet returns the coordinator that the processes will join, which posts events. It is to be closed.
func (c *LaunchConfig) meet(where placement, events chan event) (*coordinator, error) {
	authority, err := c.authority()
	if err != nil {
		return nil, err
	}
	generation, err := c.Environment.generation()
	if err != nil {
		return nil, err
	}
	meeting := newCoordinator(c.World, authority, events)
	meeting.files, meeting.generation = c.Files, generation
	if c.Meeting != nil {
		meeting.attend(c.Meeting)
	} else if where.isRemote() || c.hasRendezvous() {
		if err := meeting.listen(c.Host, c.Port); err != nil {
			meeting.close()
			return nil, err
		}
	}
	return meeting, nil
}

// authority returns the authority of the run: that of the meeting, or a new one that never leaves this
// process.
func (c *LaunchConfig) authority() (*pass.Authority, error) {
	if c.Meeting != nil && c.Meeting.authority != nil {
		return c.Meeting.authority, nil
	}
	return pass.NewAuthority(tokenLife)
}

// tokenLife is how long the token of a run admits: more than any JoinTimeout, and than clocks differ.
const tokenLife = time.Hour

// resolveHosts returns where the ranks are. In a lab and on several hosts it moves the rendezvous from a
// loopback address to one that all of them reach.
func (c *LaunchConfig) resolveHosts() (where placement, err error) {
	if c.Meeting != nil {
		return placement{}, nil
	}
	if where, err = c.Environment.place(c.numWorkers(), c.Servers); err != nil || where.names == nil {
		return where, err
	}
	if c.SharedMemory && where.isApart() {
		return placement{}, environmentErrorf("%s: each worker is on a host of its own, and hosts share no "+
			"memory; link them by tcp", where.variable)
	}
	if ip := net.ParseIP(c.Host); where.first != "" && ip != nil && ip.IsLoopback() {
		c.Host = where.first
	}
	return where, nil
}

// hasRendezvous reports whether workers connect by TCP. Without a given port on a loopback address
// nobody else can, because no other process knows the port.
func (c *LaunchConfig) hasRendezvous() bool {
	ip := net.ParseIP(c.Host)
	return !hasSocketPairs || c.Port != 0 || ip == nil || !ip.IsLoopback()
}

// start starts the workers, with their control connections unless they dial, and with their shared
// memory if they use it. On other hosts it has them started.
func (c LaunchConfig) start(meeting *coordinator, where placement) (f fleet, err error) {
	processes := c.processes(meeting, where)
	if !where.isRemote() {
		f.localFleet, err = c.startHere(meeting, processes)
		return f, err
	}
	conn, err := c.Environment.agentConnection()
	if err != nil {
		return f, err
	}
	f.remote = newRemoteFleet(where, conn, meeting.post, c.Log)
	orders, err := f.remote.encode(c.remoteStarts(processes, where, f.remote.run))
	if err == nil {
		for rank, host := range where.hosts {
			if host > 0 {
				processes[rank].command = nil
			}
		}
		f.localFleet, err = c.startHere(meeting, processes)
	}
	if err != nil {
		conn.Close()
		return f, err
	}
	f.remote.start(orders)
	return f, nil
}

// startHere starts the processes of this host.
func (c LaunchConfig) startHere(meeting *coordinator, processes []process) (*localFleet, error) {
	var passed []*os.File
	defer func() {
		for _, f := range passed {
			f.Close() // the children have their own descriptors
		}
	}()
	if c.Meeting != nil || meeting.listener == nil {
		ends, err := meeting.connect(processes)
		if passed = append(passed, ends...); err != nil {
			return nil, readLimits().startError("the processes of this host", err)
		}
	}
	if c.SharedMemory {
		segments, err := share(processes, c.Meeting)
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

// share creates a segment of shared memory for each host of this machine with several processes, and
// returns the segments.
func share(processes []process, m *Meeting) (segments []*os.File, err error) {
	ranks := map[string][]int{}
	for rank, p := range processes {
		if p.command == nil && !m.isGuest(rank) {
			continue // it is on another host
		}
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

func (c LaunchConfig) processes(meeting *coordinator, where placement) []process {
	host, port, token := c.Host, 0, ""
	if a := meeting.address(); a != nil {
		host, port = a.IP.String(), a.Port
		if c.Meeting == nil { // else the processes that are started here inherit their connections
			token = meeting.authority.Token().Reveal()
		}
	}
	processes := make([]process, c.World)
	for rank := range processes {
		processes[rank] = process{name: c.name(rank), command: c.command(rank), log: c.Log(rank),
			environment: c.Environment.With(Environment{
				EnvRank:       strconv.Itoa(rank),
				EnvWorld:      strconv.Itoa(c.World),
				envTorchRank:  strconv.Itoa(rank), // the launcher's own environment may have others
				envTorchWorld: strconv.Itoa(c.World),
				EnvMasterAddr: host,
				EnvMasterPort: strconv.Itoa(port),
				EnvToken:      token,
				EnvTokenFile:  "",
				envControl:    "", // the launcher may itself be a worker
				envSegment:    "",
				envInterface:  "",
				EnvAgent:      "",
			})}
		if where.names != nil {
			processes[rank].environment[EnvHost] = where.names[rank]
		}
		if where.networks != nil {
			processes[rank].network = where.networks[rank]
		}
		if where.isRemote() {
			processes[rank].environment[envInterface] = where.roster[where.hosts[rank]].Address
		}
	}
	here := where.here(c.World)
	var threads []int
	for _, rank := range here {
		threads = append(threads, c.threads()[rank])
	}
	for i, share := range assign(processors(), threads) {
		processes[here[i]].processors = share
	}
	return processes
}
