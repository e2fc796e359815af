package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"lockstep/app/job"
	"lockstep/app/setting"
	"lockstep/cluster"
)

// leaveTime is how long a guest may take to end its work after the job has ended.
const leaveTime = 3 * time.Second

// Guest is a worker whose process another launcher has started, such as mpirun.
type Guest struct {
	Member      cluster.Member
	Environment cluster.Environment
	Catalog     *setting.Catalog // of the program, the same as that of rank 0
	Terms       Terms            // of the job, as this process was started
	Log         io.Writer        // takes a few lines for people
	// Asked tells of a signal that asks the run to stop.
	Asked <-chan struct{}
	// Abandon is called with the status of the job when that has ended, but not the guest's work. It
	// must end the process.
	Abandon func(status int)
}

// Work joins the run that the process of rank 0 hosts, trains as a worker of it, and returns the exit status
// of the job when rank 0 is done. Errors are *cluster.RendezvousError and cluster.ErrLauncherLost. From
// the time it has joined, the output of this process goes to its log in the run directory.
func (g Guest) Work(ctx context.Context) (status int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var helpers sync.WaitGroup // they end with ctx
	defer helpers.Wait()
	defer cancel()
	joined := make(chan struct{})
	helpers.Go(func() {
		select {
		case <-g.Asked:
			cancel() // nobody waits for it yet
		case <-joined:
		case <-ctx.Done():
		}
	})
	session, err := cluster.Join(ctx, g.Member, g.hello())
	if ended := (*cluster.EndedError)(nil); errors.As(err, &ended) {
		return ended.Status, nil
	}
	if err != nil {
		return 0, err
	}
	close(joined)
	defer session.Close()
	helpers.Go(func() { g.attend(ctx, session) })
	result, err := workIn(session, g.Member.Rank, g.Environment,
		Program{Catalog: g.Catalog, Log: g.Log}, true)
	if err == nil {
		err = session.Done(result)
	} else {
		err = session.Fail(failureOf(err), err)
	}
	if err != nil {
		fmt.Fprintln(g.Log, err) // Status says how the job ends
	}
	return session.Status()
}

// Terms is what the processes of a job must agree on, by name: its program and its settings.
type Terms map[string]string

// Agree returns why a process that joins with other terms is of another job; "" if it has the same.
func (t Terms) Agree(terms json.RawMessage) string {
	var its Terms
	if err := json.Unmarshal(terms, &its); err != nil {
		return fmt.Sprintf("its settings cannot be read: %v", err)
	}
	return setting.Disagreement(its, t)
}

// hello describes this process.
func (g Guest) hello() cluster.Hello {
	h := hello(g.Environment)
	h.Terms, _ = json.Marshal(g.Terms) // a map of texts has a form in JSON
	return h
}

// attend passes a signal on, and ends the process if its work goes on after the job.
func (g Guest) attend(ctx context.Context, s *cluster.Session) {
	asked := g.Asked
	for {
		select {
		case <-asked:
			asked = nil
			s.Ask()
			continue
		case <-ctx.Done():
			return
		case <-s.Over():
		}
		break
	}
	select {
	case <-ctx.Done():
	case <-time.After(leaveTime):
		status, err := s.Status()
		if err != nil {
			status = job.ExitCode(err)
		}
		g.Abandon(status)
	}
}

// settle makes a process of another launcher like one that rank 0 would have started: the same folder,
// its output in the run directory, as many threads.
func (a Assignment) settle(rank int) error {
	if err := os.Chdir(a.Folder); err != nil {
		return fmt.Errorf("job: rank %d cannot enter the folder of rank 0, which all hosts must have: %w",
			rank, err)
	}
	err := os.MkdirAll(string(a.Directory), 0o777) // hosts without a common file system keep their own logs
	if err == nil {
		err = cluster.RedirectOutput(a.Directory.Log(rank))
	}
	if err != nil {
		return fmt.Errorf("job: rank %d cannot write to the run directory: %w", rank, err)
	}
	runtime.GOMAXPROCS(a.Config.Threads + job.ComputeExtra)
	return nil
}
