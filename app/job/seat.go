package job

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"lockstep/app/host"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/comm"
	"lockstep/compute"
	"lockstep/trace"
)

// OpenLog opens the log of a worker of this process.
func OpenLog(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
}

// losses are the files that a rank no longer writes. A worker and a server in its process share them.
type losses struct {
	mu    sync.Mutex
	files []string
}

// add adds the file unless err is nil. It reports whether the file is new.
func (l *losses) add(file string, err error) (isNew bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil || slices.Contains(l.files, file) {
		return false
	}
	l.files = append(l.files, file)
	return true
}

// ComputeExtra is the number of threads that may run Go code in a worker besides the compute threads, so
// that the loader and the exchange do not wait for a kernel to end.
const ComputeExtra = 2

// GoThreads returns how many threads may run Go code in a process with all ranks of c. A rank that is alone
// has more than it computes with only where there are cores for them, which this process may use. The runtime
// preempts a goroutine that has run for 10 ms, and one of more threads than cores then takes it over, on any
// core: on two cores that made a step 2 % longer with resnet50 and 12 % with lenet (docs/design/0046).
func GoThreads(c setting.Config) int {
	if c.World() > 1 {
		return c.NumThreads() + c.World()*ComputeExtra
	}
	return max(c.Threads, min(c.Threads+ComputeExtra, host.Cores()))
}

// LogOf returns the path of the log of a rank.
func LogOf(c setting.Config, dir rundir.Directory, rank int) string {
	if rank < c.Workers {
		return dir.Log(rank)
	}
	return dir.ServerLog(rank - c.Workers)
}

// Seat is what a worker and a server have alike, in whatever process they are: their place in the run, their
// links, and how they speak to the launcher and to people.
type Seat struct {
	Config setting.Config // complete, with the kernel path decided
	Dir    rundir.Directory
	Rank   int
	Host   string    // its own
	Mesh   comm.Mesh // links to the peers; nil if there are no peers or nothing is exchanged
	// generation is how often the job was started before, which all frames carry.
	Generation uint32
	Tell       func(Notice) // the launcher
	Log        io.Writer    // for people
	Beacon     *Beacon
	Lost       losses
	Clock      func() trace.Skew // tells how the clock here stands to the launcher's; nil: it is the same
}

// Skew returns how the clock here stands to the launcher's.
func (s *Seat) Skew() trace.Skew {
	if s.Clock == nil {
		return trace.Skew{IsKnown: true}
	}
	return s.Clock()
}

// Note writes a line to the log. It ignores errors, because a full disk is reported elsewhere.
func (s *Seat) Note(format string, args ...any) {
	fmt.Fprintf(s.Log, cluster.Name(s.Rank, s.Config.Workers)+": "+format+"\n", args...)
}

// Announce writes a line to the log, which on rank 0 people are told too.
func (s *Seat) Announce(text string) {
	s.Note("%s", text)
	if s.Rank == 0 {
		s.Tell(Notice{Note: text})
	}
}

// Lose reports, once per file, that the file is no longer written because of err. It ignores a nil err.
func (s *Seat) Lose(file string, err error) {
	if !s.Lost.add(file, err) {
		return
	}
	l := record.Lost{Rank: s.Rank, Host: s.Host, File: file, Reason: err.Error()}
	s.Note("%v", l)
	s.Tell(Notice{Lost: &l})
}

// Logged calls run while the seat's log, in the run directory, is open: ranks of one process have no
// output of their own.
func (s *Seat) Logged(ctx context.Context, run func(context.Context) error) error {
	log, err := OpenLog(LogOf(s.Config, s.Dir, s.Rank))
	if err != nil {
		return fmt.Errorf("job: log: %w", err)
	}
	s.Log = log
	s.Beacon.Enter(PhaseSetUp)
	if err = run(ctx); err != nil {
		s.Note("%v", err)
	}
	_ = log.Close() // as in note, errors of the log are ignored
	return err
}

// Sharers returns the number of ranks that run in one process and share its memory.
func (s *Seat) Sharers() int64 {
	if s.Config.IsOneProcess() {
		return int64(s.Config.Workers)
	}
	return 1
}

// OpenCPU opens a CPU for a part of the run c, in whatever process: all that decides the bits of its results
// comes from c. A CPU of one thread starts none and needs no Close.
func OpenCPU(c setting.Config, threads int, isCrowded bool) (*compute.CPU, error) {
	isa, err := c.KernelPath()
	if err != nil {
		return nil, err
	}
	math := compute.Fast // of what a GPU leaves to the CPU
	if !c.IsOnGPU() {
		if math, err = compute.ParseMath(c.Math); err != nil {
			return nil, err
		}
	}
	return compute.Open(compute.Config{ISA: isa, Math: math, Threads: threads, Crowded: isCrowded})
}

// NewRecorder returns the recorder of a rank; nil if the run records no spans.
func NewRecorder(c setting.Config, d rundir.Directory, rank int) *trace.Recorder {
	if !c.Spans && !c.Trace {
		return nil
	}
	return trace.NewRecorder(rank, func() (io.WriteCloser, error) { return d.CreateSpans(rank) })
}
