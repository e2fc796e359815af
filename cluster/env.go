package cluster

import (
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/cluster/pass"
)

// Environment holds environment variables by name. A program reads it once and passes it on: no
// other file of this module reads the process's environment.
type Environment map[string]string

// The variables that Lockstep reads. Those without a prefix are torchrun's.
const (
	EnvRank        = "LOCKSTEP_RANK"        // this process's rank, from 0
	EnvWorld       = "LOCKSTEP_WORLD"       // number of ranks
	EnvToken       = "LOCKSTEP_TOKEN"       // what admits to the run, see package pass
	EnvTokenFile   = "LOCKSTEP_TOKEN_FILE"  // file with the token, "-" for the standard input
	EnvGeneration  = "LOCKSTEP_GENERATION"  // how often the job was started before, from 0
	EnvISA         = "LOCKSTEP_ISA"         // kernel path of a process: plain, avx2, avx512, neon
	envSegment     = "LOCKSTEP_SEGMENT"     // descriptor of the shared memory of this host's workers
	envInterface   = "LOCKSTEP_INTERFACE"   // address of data links, if not that of the control connection
	envControl     = "LOCKSTEP_CONTROL"     // descriptor of the inherited connection to the launcher
	EnvHost        = "LOCKSTEP_HOST"        // name of the host a worker is on, if not that of the machine
	EnvLab         = "LOCKSTEP_LAB"         // hosts of the lab of a launcher, see LabEnvironment
	EnvHosts       = "LOCKSTEP_HOSTS"       // hosts of a launcher, see RosterEnvironment
	EnvAgent       = "LOCKSTEP_AGENT"       // descriptor of the connection to the agent of its first host
	EnvRestarts    = "LOCKSTEP_RESTARTS"    // what it cost to start the run again, as JSON
	EnvMayRestart  = "LOCKSTEP_MAY_RESTART" // not empty: the run is started again if it is lost
	EnvPreflight   = "LOCKSTEP_PREFLIGHT"   // what a console has found out about the hosts, as JSON
	EnvLabFlags    = "LOCKSTEP_LAB_FLAGS"   // flags of `lockstep lab`, as one text, for records of results
	EnvLabUser     = "LOCKSTEP_LAB_USER"    // not empty: the lab has a user namespace of its own
	EnvData        = "LOCKSTEP_DATA"        // folder of data sets
	EnvPython      = "LOCKSTEP_PYTHON"      // interpreter with PyTorch, for rows of bench --peer
	EnvTrain       = "LOCKSTEP_TRAIN_"      // prefix of settings of `lockstep train`
	EnvStepSummary = "GITHUB_STEP_SUMMARY"  // file of a CI job's page, in Markdown
	envTorchRank   = "RANK"
	envTorchWorld  = "WORLD_SIZE"
	EnvLocalWorld  = "LOCKSTEP_LOCAL_WORLD" // number of processes of this host
	EnvMasterAddr  = "MASTER_ADDR"          // host of the rendezvous
	EnvMasterPort  = "MASTER_PORT"          // port of the rendezvous
	// EnvTerminal is the width of the terminal on which a console shows this process's error stream.
	EnvTerminal = "LOCKSTEP_TERMINAL"
	EnvMaxProcs = "GOMAXPROCS" // threads of the Go runtime that may run at once
	EnvNoColor  = "NO_COLOR"   // any non-empty value: no colour, no cursor movement
	EnvTerm     = "TERM"       // "dumb": as NO_COLOR
)

// ProcessEnvironment returns the environment of this process.
func ProcessEnvironment() Environment {
	e := Environment{}
	for _, pair := range os.Environ() {
		if name, value, ok := strings.Cut(pair, "="); ok {
			e[name] = value
		}
	}
	return e
}

// With returns a copy of e in which the variables of more replace those of e.
func (e Environment) With(more Environment) Environment {
	c := maps.Clone(e)
	maps.Copy(c, more)
	return c
}

// Pairs returns the variables as sorted NAME=value strings, as in os/exec.
func (e Environment) Pairs() []string {
	pairs := make([]string, 0, len(e))
	for name, value := range e {
		pairs = append(pairs, name+"="+value)
	}
	slices.Sort(pairs)
	return pairs
}

// IsPlain reports whether the environment asks for output without colour or cursor movement.
func (e Environment) IsPlain() bool { return e[EnvNoColor] != "" || e[EnvTerm] == "dumb" }

// HostName returns the name of a worker's host: the one that its launcher assigned, else the
// machine's, or "" if the system has none.
func (e Environment) HostName() string {
	if name := e[EnvHost]; name != "" {
		return name
	}
	name, _ := os.Hostname() // "": messages then name no host
	return name
}

// Member is a process's place in a job.
type Member struct {
	Rank, World int
	// Address is the host:port of the rendezvous. Port 0 means that there is none; the host is then
	// the interface of the data links.
	Address string
	// Token is what the process shows at the rendezvous, if it must dial.
	Token pass.Token
	// Generation is how often the job was started before.
	Generation uint32
	// Control is the descriptor of the inherited connection to the launcher, or 0 if the process
	// must dial.
	Control int
	// Segment is the descriptor of the shared memory of this host's workers, or 0 if there is none.
	Segment int
	// Interface is the address of the data links; "": that by which the rendezvous is reached.
	Interface string
	// IsGuest says that another launcher has started this process; see Note: meetings.
	IsGuest bool
	// Socket is the path of the Unix socket of the meeting, or "" if there is none.
	Socket string
	// Clock returns the time of this host; nil: time.Now.
	Clock func() time.Time
	// Waits, if not nil, is called once if the process has to wait for rank 0, or rank 0 for its address,
	// with what is in the way.
	Waits func(why error)
}

// now returns the time of this host.
func (m Member) now() time.Time {
	if m.Clock == nil {
		return time.Now()
	}
	return m.Clock()
}

// ResolveMember reads rank, world, rendezvous address, token and generation. LOCKSTEP_RANK and
// LOCKSTEP_WORLD, or RANK and WORLD_SIZE, give rank and world; if both are set they must agree. A
// launcher on the same host passes a connection instead of a port and a token, and may pass shared
// memory. Errors are *EnvironmentError and name every variable involved.
func (e Environment) ResolveMember() (Member, error) {
	rank, err := e.number("rank", 0, EnvRank, envTorchRank)
	if err != nil {
		return Member{}, err
	}
	world, err := e.number("world", 1, EnvWorld, envTorchWorld)
	if err != nil {
		return Member{}, err
	}
	if rank >= world {
		return Member{}, environmentErrorf("rank %d of a world of %d: ranks go from 0 to %d",
			rank, world, world-1)
	}
	m := Member{Rank: rank, World: world, Interface: e[envInterface]}
	port := 0
	if e[envControl] != "" {
		m.Control, err = e.number("control connection", firstExtra, envControl)
	} else {
		port, err = e.number("rendezvous port", 1, EnvMasterPort)
	}
	if err != nil {
		return Member{}, err
	}
	host := e[EnvMasterAddr]
	if host == "" {
		return Member{}, environmentErrorf("no rendezvous address: set %s", EnvMasterAddr)
	}
	m.Address = net.JoinHostPort(host, strconv.Itoa(port))
	if m.Control == 0 {
		if m.Token, err = e.needToken(EnvMasterAddr + "=" + host); err != nil {
			return Member{}, err
		}
	}
	if m.Generation, err = e.generation(); err != nil {
		return Member{}, err
	}
	if e[envSegment] != "" {
		if m.Segment, err = e.number("shared memory", firstExtra, envSegment); err != nil {
			return Member{}, err
		}
	}
	return m, nil
}

// number returns the one value that the named variables agree on.
func (e Environment) number(what string, least int, names ...string) (int, error) {
	value, source := 0, ""
	for _, name := range names {
		text := e[name]
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < least {
			return 0, environmentErrorf("%s=%.80q, want a whole number of at least %d",
				name, text, least)
		}
		if source != "" && n != value {
			return 0, environmentErrorf("%s: %s=%d but %s=%d; unset one of them",
				what, source, value, name, n)
		}
		value, source = n, name
	}
	if source == "" {
		return 0, environmentErrorf("no %s: set %s", what, strings.Join(names, " or "))
	}
	return value, nil
}

func environmentErrorf(format string, args ...any) error {
	return &EnvironmentError{Text: fmt.Sprintf(format, args...)}
}
