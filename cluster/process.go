package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
)

// process is one worker to start.
type process struct {
	name        string   // for people
	command     []string // nil if it is started elsewhere
	environment Environment
	log         string   // path of the file for stdout and stderr; "" for those of this process
	processors  []int    // processors to bind it to; nil for any
	network     string   // path of its network namespace; "" for the launcher's
	folder      string   // that it works in; "" for that of this process
	segment     *os.File // shared memory to pass on, or nil
	control     *os.File // its end of a control connection to pass on; nil if it dials
}

// exit describes how a worker's process ended.
type exit struct {
	pid    int    // of the process; 0: unknown
	signal string // "" if it exited by itself
	status int
	text   string // most informative line of its log; "" after status 0
	cause  string // likely one outside the program, or "" if unknown
	isLost bool   // its host is; text says why
}

// localFleet is a set of running worker processes on this machine.
type localFleet struct {
	commands []*exec.Cmd    // by rank; nil for one that is started elsewhere
	gone     []atomic.Bool  // by rank: has ended, so its number may belong to another process
	ended    sync.WaitGroup // one per process
	release  chan struct{}  // closed when all have ended
	keeper   sync.WaitGroup
}

// startFleet starts the processes and posts one event with the exit of each. If one cannot be
// started, the others are killed.
//
// Note: parent-death signal. Linux sends it when the thread that started the child ends, so one
// goroutine keeps its thread while children live. The thread then ends with the goroutine, because
// it may be in another network namespace.
func startFleet(processes []process, post func(event)) (*localFleet, error) {
	f := &localFleet{gone: make([]atomic.Bool, len(processes)), release: make(chan struct{})}
	started := make(chan error)
	before := readLimits()
	f.keeper.Go(func() {
		runtime.LockOSThread()
		started <- f.start(processes)
		<-f.release
	})
	err := <-started
	if err != nil {
		f.kill()
		post = func(event) {}
	}
	for rank, cmd := range f.commands {
		if cmd == nil {
			continue
		}
		f.ended.Go(func() {
			cmd.Wait() // the result is in ProcessState
			f.gone[rank].Store(true)
			x := describeExit(cmd.ProcessState)
			x.explain(processes[rank].log, before)
			post(event{rank: rank, exit: x})
		})
	}
	if err != nil {
		f.wait()
		return nil, err
	}
	return f, nil
}

// start starts the processes from the calling goroutine's own thread, whose processors and network
// they inherit.
func (f *localFleet) start(processes []process) error {
	for _, p := range processes {
		if p.command == nil {
			f.commands = append(f.commands, nil)
			continue // it is started elsewhere
		}
		if p.processors != nil {
			useProcessors(p.processors)
		}
		if p.network != "" {
			if err := enterNetwork(p.network); err != nil {
				return fmt.Errorf("cluster: start %s: %w", p.name, err)
			}
		}
		cmd, err := p.start()
		if err != nil {
			return readLimits().startError(p.name, err)
		}
		f.commands = append(f.commands, cmd)
	}
	return nil
}

// firstExtra is the descriptor of a child's first extra file, after its three standard ones.
const firstExtra = 3

func (p process) start() (*exec.Cmd, error) {
	cmd := exec.Command(p.command[0], p.command[1:]...)
	cmd.Env, cmd.Dir = p.environment.Pairs(), p.folder
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if p.log != "" {
		log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
		if err != nil {
			return nil, err
		}
		defer log.Close() // the child has its own descriptor
		cmd.Stdout, cmd.Stderr = log, log
	}
	for _, extra := range []struct {
		name string
		file *os.File
	}{{envSegment, p.segment}, {envControl, p.control}} {
		if extra.file != nil {
			cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", extra.name, firstExtra+len(cmd.ExtraFiles)))
			cmd.ExtraFiles = append(cmd.ExtraFiles, extra.file)
		}
	}
	separate(cmd)
	return cmd, cmd.Start()
}

// StartChild starts a command in a session of its own, which dies with this process, and calls ended with the
// result of its Wait. See Note: parent-death signal.
func StartChild(command *exec.Cmd, ended func(error)) error {
	detach(command)
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			ended(command.Wait())
		}
	}()
	return <-started
}

// explain adds to the exit of a process what its log and the machine say about it.
func (x *exit) explain(log string, before limits) {
	if log == "" || x.signal == "" && x.status == 0 {
		return
	}
	x.text = tellingLine(log, x.signal == "")
	x.cause = before.cause(readLimits(), x.signal, x.text)
}

// kill kills every process that still runs, with its children.
func (f *localFleet) kill() {
	for rank, cmd := range f.commands {
		if cmd != nil {
			f.killOne(rank)
		}
	}
}

// killOne kills one process, if it still runs.
func (f *localFleet) killOne(rank int) {
	if !f.gone[rank].Load() {
		KillGroup(f.commands[rank].Process)
	}
}

// quit ends one process, which writes its stacks to its output if it can.
func (f *localFleet) quit(rank int) {
	if !f.gone[rank].Load() {
		quit(f.commands[rank].Process)
	}
}

// pid returns the number of a rank's process; 0 if it is started elsewhere.
func (f *localFleet) pid(rank int) int {
	if cmd := f.commands[rank]; cmd != nil {
		return cmd.Process.Pid
	}
	return 0
}

// state returns the state of a rank's process if it is out of the ordinary.
func (f *localFleet) state(rank int) string {
	if f.commands[rank] == nil || f.gone[rank].Load() {
		return ""
	}
	return processState(f.commands[rank].Process.Pid)
}

// isHere reports whether the rank's process was started here.
func (f *localFleet) isHere(rank int) bool { return f.commands[rank] != nil }

// signal passes a signal on to every process that still runs.
func (f *localFleet) signal(s os.Signal) {
	for rank, cmd := range f.commands {
		if !f.gone[rank].Load() {
			cmd.Process.Signal(s) // an error means that it has ended
		}
	}
}

// wait returns when all processes have ended and their events are posted.
func (f *localFleet) wait() {
	f.ended.Wait()
	close(f.release)
	f.keeper.Wait()
}
