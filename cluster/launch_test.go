package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockstep/cluster"
	"lockstep/cluster/pass"

	"go.uber.org/goleak"
)

// The test binary acts as a worker when the variable says how to behave.
const behaviour = "LOCKSTEP_TEST_WORKER"

// A worker of the tests joins when the file that this variable names is there.
const beginWith = "LOCKSTEP_TEST_BEGIN"

func TestMain(m *testing.M) {
	environment := cluster.ProcessEnvironment()
	if environment[behaviour] != "" {
		os.Exit(work(environment))
	}
	goleak.VerifyTestMain(m)
}

func work(environment cluster.Environment) int {
	member, err := environment.ResolveMember()
	if err != nil {
		fmt.Println(err)
		return 2
	}
	how := environment[behaviour]
	for name := environment[beginWith]; name != ""; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(name); err == nil {
			break
		}
	}
	if how == "absent" && member.Rank == 1 {
		time.Sleep(time.Minute)
	}
	if (how == "twice" || how == "killed waiting") && member.Rank == 0 {
		time.Sleep(500 * time.Millisecond) // so that rank 1 waits
	}
	if how == "killed waiting" && member.Rank == 1 {
		self, _ := os.FindProcess(os.Getpid())
		time.AfterFunc(200*time.Millisecond, func() { self.Kill() })
	}
	if how == "stopped at once" && member.Rank == 1 {
		self, _ := os.FindProcess(os.Getpid())
		self.Signal(syscall.SIGSTOP)
	}
	if how == "twice" && member.Rank == 1 {
		go func() {
			time.Sleep(200 * time.Millisecond)
			_, err := cluster.Join(context.Background(), member, cluster.Hello{})
			fmt.Println(err)
		}()
	}
	host := "here"
	if name := environment[cluster.EnvHost]; name != "" {
		host = name
	}
	if how == "kept" && member.Rank == 1 {
		keepOpen(member.Control)
	}
	session, err := cluster.Join(context.Background(), member, cluster.Hello{
		PID: os.Getpid(), Host: host})
	if err != nil {
		fmt.Println(err)
		return 4
	}
	defer session.Close()
	session.Report(cluster.Progress{Phase: "forward", Step: 7, Steps: 9})
	if how == "stopped" || how == "stuck" || how == "saves" {
		beating, stop := context.WithCancel(context.Background())
		defer stop()
		go cluster.Beat(beating, func() cluster.Progress { return beatOf(how, member.Rank) },
			func(p cluster.Progress) { session.Report(p) })
	}
	if member.Rank == 1 {
		switch how {
		case "killed", "spared", "kept", "late":
			if how == "late" {
				time.Sleep(1500 * time.Millisecond) // it was reported as lost before
			}
			self, _ := os.FindProcess(os.Getpid())
			self.Kill()
			select {}
		case "panics":
			panic("shape mismatch")
		case "fails":
			session.Fail(cluster.Failure{Status: 3, Text: "file cut off"}, nil)
			return 3
		case "silent":
			return 0
		case "stuck":
			time.Sleep(time.Hour)
		case "stopped":
			self, _ := os.FindProcess(os.Getpid())
			self.Signal(syscall.SIGSTOP)
		}
	}
	if how == "spared" {
		time.Sleep(300 * time.Millisecond)
		session.Done(result{Rank: member.Rank})
		return 0
	}
	if how == "strays" {
		f := cluster.Failure{Status: 5, Text: "another", Noticed: true, Lost: (member.Rank + 1) % 3,
			In: "all-reduce 4"}
		if member.Rank == 1 {
			f.In = "barrier 4"
		}
		fmt.Println(session.Fail(f, nil))
		return 5
	}
	if how != "well" && how != "older" && how != "twice" {
		if member.Rank == 0 && (how == "killed" || how == "link" || how == "kept" || how == "late") {
			lost := cluster.Failure{Status: 5, Text: "lost peer 1", Noticed: true, Lost: 1}
			fmt.Println(session.Fail(lost, nil))
			return 5
		}
		<-session.Context().Done()
		if how == "dies" && member.Rank == 1 {
			self, _ := os.FindProcess(os.Getpid())
			self.Kill()
			select {}
		}
		if how == "saves" {
			time.Sleep(2500 * time.Millisecond) // the rest of a step
			fmt.Println("saved")
		}
		fmt.Println(context.Cause(session.Context()))
		return 130
	}
	ports := listening()
	mesh, err := session.Connect(session.Context())
	if err != nil {
		fmt.Println(err)
		return 4
	}
	defer mesh.Close()
	session.Done(result{Rank: mesh.Rank(), Size: mesh.Size(), Ports: ports, Welcome: session.Welcome,
		HasToken: environment[cluster.EnvToken] != ""})
	return 0
}

// keepOpen lets the connection with a descriptor outlast this process for two seconds, as one does of which
// the last packet is lost.
func keepOpen(descriptor int) {
	other, err := syscall.Dup(descriptor)
	if err != nil {
		fmt.Println(err)
		return
	}
	keeper := exec.Command("sleep", "2")
	keeper.ExtraFiles = []*os.File{os.NewFile(uintptr(other), "")}
	if err := keeper.Start(); err != nil {
		fmt.Println(err)
	}
}

// beatOf is a beat of a run in which rank 1 stands still, the length of which is not a number of steps.
func beatOf(how string, rank int) cluster.Progress {
	p := cluster.Progress{Phase: "sync_exposed", Step: 8, Limit: 1}
	if how == "saves" {
		p.Limit = 10
	} else if rank == 1 {
		p.Phase, p.Step = "forward", 7
	} else if how == "stopped" || rank == 0 {
		p.Wait = &cluster.Wait{Rank: 1, What: "all-reduce of bucket 1 of 2"}
	} else {
		p.Wait = &cluster.Wait{Rank: 0, What: "all-reduce of bucket 1 of 2"}
	}
	return p
}

type result struct {
	Rank, Size int
	Ports      []string // on which it listened before it was linked
	HasToken   bool     // in its environment
	Welcome    cluster.Welcome
}

func launch(t *testing.T, ctx context.Context, how string, world int) ([]json.RawMessage, error) {
	t.Helper()
	return launchIn(t, ctx, t.TempDir(), how, world)
}

func launchIn(t *testing.T, ctx context.Context, dir, how string, world int) (
	[]json.RawMessage, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return launchWith(t, ctx, cluster.LaunchConfig{World: world, Command: []string{self}}, dir, how)
}

func launchWith(t *testing.T, ctx context.Context, c cluster.LaunchConfig, dir, how string) (
	[]json.RawMessage, error) {
	t.Helper()
	if how == "twice" {
		c.Host = "localhost" // a rendezvous, so that one more can come
	}
	c.Job = "the job"
	c.JoinTimeout, c.SilenceTimeout = timeoutsOf(how)
	c.Environment = cluster.ProcessEnvironment().With(cluster.Environment{behaviour: how})
	c.Log = func(rank int) string { return filepath.Join(dir, fmt.Sprintf("rank%d.log", rank)) }
	return cluster.Launch(ctx, c)
}

// timeoutsOf returns how long workers may take to join and be silent: shortly where one will, so that the
// test is quick, else as long as by default, which none reaches on a busy machine.
func timeoutsOf(how string) (join, silence time.Duration) {
	if how == "absent" {
		join = 3 * time.Second
	}
	if strings.HasPrefix(how, "stopped") {
		silence = 2 * time.Second
	}
	return join, silence
}

func TestLaunchReturnsEveryResult(t *testing.T) {
	results, err := launch(t, t.Context(), "well", 3)
	if err != nil {
		t.Fatal(err)
	}
	for rank, text := range results {
		var r result
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		w := r.Welcome
		if r.Rank != rank || r.Size != 3 || len(w.Addresses) != 3 ||
			string(w.Job) != `"the job"` {
			t.Errorf("rank %d: %s", rank, text)
		}
	}
}

func TestLaunchNamesTheFirstToDie(t *testing.T) {
	tests := map[string]struct {
		want  cluster.WorkerError
		parts []string
	}{
		"killed": {cluster.WorkerError{Signal: "SIGKILL"},
			[]string{"SIGKILL", "step 7", "forward", "; rank 0: lost peer 1"}},
		"kept": {cluster.WorkerError{Signal: "SIGKILL"},
			[]string{"was killed by signal SIGKILL after step 7", "; rank 0: lost peer 1"}},
		"panics": {cluster.WorkerError{Status: 2},
			[]string{"panic: shape mismatch", "status 2", "rank1.log"}},
		"stopped": {cluster.WorkerError{Silence: 2250 * time.Millisecond}, []string{
			"is stopped by a signal and has given no sign of life for 2.25s after step 7, phase",
			"rank 0 waits for it in all-reduce of bucket 1 of 2", "rank 2 waits"}},
		"stuck": {cluster.WorkerError{}, []string{"is stuck: it has not got on for ",
			"after step 7, phase forward", "rank 0 waits for it in all-reduce", "rank1.log",
			", in lockstep/cluster_test.work (time.Sleep)"}},
		"link": {cluster.WorkerError{}, []string{
			"was lost after step 7, phase forward", "; rank 0: lost peer 1"}},
		"strays": {cluster.WorkerError{Status: 5, Reported: true}, []string{" failed after step 7, " +
			"phase forward: it is in barrier 4, rank 0 and 1 more in all-reduce 4"}},
		"fails":  {cluster.WorkerError{Status: 3, Reported: true}, []string{"file cut off"}},
		"silent": {cluster.WorkerError{}, []string{"ended with status 0"}},
	}
	for how, test := range tests {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			_, err := launchIn(t, t.Context(), folder, how, 3)
			var e *cluster.WorkerError
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want a WorkerError", err)
			}
			for _, survivor := range []string{"rank0.log", "rank2.log"} {
				log, err := os.ReadFile(filepath.Join(folder, survivor))
				if want := "the run has ended: " + e.Error() + "\n"; err != nil || string(log) != want {
					t.Errorf("%s has %q, %v; want %q", survivor, log, err, want)
				}
			}
			w := test.want
			if e.Rank != 1 || e.Signal != w.Signal || e.Status != w.Status ||
				e.Reported != w.Reported || e.Silence != w.Silence {
				t.Errorf("got %+v, want rank 1 and %+v", e, w)
			}
			for _, part := range append(test.parts, "rank 1", strconv.Itoa(e.PID)) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not name %q", err, part)
				}
			}
		})
	}
}

// A run goes on without a rank that it may lose, and ends without any other.
func TestLaunchGoesOnWithoutARank(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for how, want := range map[string]string{
		"spared":  `^rank 1 \(pid \d+ on here\) was killed by signal SIGKILL after step 7, phase forward`,
		"stopped": `^rank 1 .* is stopped by a signal and has given no sign of life for`,
	} {
		var lost []*cluster.WorkerError
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := cluster.LaunchConfig{World: 3, Command: []string{self},
			MayLose: func(rank int) bool { return rank == 1 },
			Lost: func(e *cluster.WorkerError) {
				lost = append(lost, e)
				if how == "stopped" { // whose others only end when they are asked to
					cancel()
				}
			}}
		results, err := launchWith(t, ctx, c, t.TempDir(), how)
		if how == "spared" && (err != nil || results[0] == nil || results[1] != nil || results[2] == nil) {
			t.Errorf("%s: results %s, %v", how, results, err)
		}
		if stop := (*cluster.StopError)(nil); how == "stopped" && !errors.As(err, &stop) {
			t.Errorf("%s: got %v, want that it was stopped", how, err)
		}
		if len(lost) != 1 || !regexp.MustCompile(want).MatchString(lost[0].Error()) {
			t.Errorf("%s: lost %v, want %s", how, lost, want)
		}
	}
	c := cluster.LaunchConfig{World: 3, Command: []string{self},
		MayLose: func(rank int) bool { return rank == 2 }}
	var e *cluster.WorkerError
	if _, err := launchWith(t, t.Context(), c, t.TempDir(), "spared"); !errors.As(err, &e) || e.Rank != 1 {
		t.Errorf("got %v, want the loss of rank 1", err)
	}
}

// The last ranks may be servers: they have a command of their own, and every message names them.
func TestLaunchNamesAServer(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := cluster.LaunchConfig{World: 3, Servers: 2, Command: []string{self}, ServerCommand: []string{self}}
	for how, want := range map[string]string{
		"killed": `^server 0 \(rank 1, pid \d+ on here\) was killed by signal SIGKILL after step 7, ` +
			`phase forward; rank 0: lost peer 1`,
		"stopped": `^server 0 \(rank 1, .*is stopped by a signal.*; rank 0 waits for it in .*; ` +
			`server 1 \(rank 2\) waits for it in`,
		"absent": `missing: server 0 \(rank 1\)$`,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			_, err := launchWith(t, t.Context(), c, t.TempDir(), how)
			if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
	none := c
	none.ServerCommand = []string{filepath.Join(t.TempDir(), "nothing")}
	want := "start server 0 (rank 1): "
	if _, err := launchWith(t, t.Context(), none, t.TempDir(), "well"); err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestLaunchSaysWhoIsMissing(t *testing.T) {
	t.Parallel()
	_, err := launch(t, t.Context(), "absent", 2)
	var e *cluster.RendezvousError
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "missing: rank 1") {
		t.Errorf("got %v, want a RendezvousError that names rank 1", err)
	}
}

func TestARankCannotJoinTwice(t *testing.T) {
	dir := t.TempDir()
	if _, err := launchIn(t, t.Context(), dir, "twice", 2); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(dir, "rank1.log"))
	if err != nil || !strings.Contains(string(log), "refused: rank 1 has already joined") {
		t.Errorf("rank 1 printed %q, %v", log, err)
	}
}

// cancelAt returns a configuration of two workers and a context that ends when both have reported a step.
func cancelAt(t *testing.T, step int) (context.Context, cluster.LaunchConfig) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	there := map[int]bool{}
	return ctx, cluster.LaunchConfig{World: 2, Command: []string{self},
		Progress: func(rank int, p cluster.Progress) {
			if p.Step == step {
				there[rank] = true
			}
			if len(there) == 2 {
				cancel()
			}
		}}
}

func TestLaunchStopsWorkersOnCancel(t *testing.T) {
	ctx, c := cancelAt(t, 7)
	if _, err := launchWith(t, ctx, c, t.TempDir(), "waits"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

// Workers that save what they have when they are asked to stop are given the rest of a long step.
func TestLaunchWaitsForWorkersThatSave(t *testing.T) {
	t.Parallel()
	for _, saves := range []bool{true, false} {
		dir := t.TempDir()
		ctx, c := cancelAt(t, 8)
		c.StopGrace, c.SavesAtStop = time.Second, saves
		_, err := launchWith(t, ctx, c, dir, "saves")
		var stop *cluster.StopError
		if !errors.As(err, &stop) || (stop.Killed == nil) != saves {
			t.Errorf("SavesAtStop %v: %v, want a StopError", saves, err)
		}
		log, err := os.ReadFile(filepath.Join(dir, "rank1.log"))
		if err != nil || strings.Contains(string(log), "saved") != saves {
			t.Errorf("SavesAtStop %v: rank 1 printed %q, %v", saves, log, err)
		}
	}
}

// A worker that is killed by others while it stops is named: what it had to save is lost.
func TestLaunchNamesWhoDiesWhileItStops(t *testing.T) {
	ctx, c := cancelAt(t, 7)
	_, err := launchWith(t, ctx, c, t.TempDir(), "dies")
	var stop *cluster.StopError
	if !errors.As(err, &stop) || stop.Killed == nil || stop.Killed.Rank != 1 ||
		!regexp.MustCompile(`^context canceled; rank 1 .* was killed by signal SIGKILL`).MatchString(
			err.Error()) {
		t.Errorf("got %v, want a StopError that names rank 1", err)
	}
}

func TestLaunchNamesAPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	for host, want := range map[string]string{"127.0.0.1": "in use", "0.0.0.0": "all interfaces"} {
		_, err = cluster.Launch(t.Context(), cluster.LaunchConfig{World: 1, Host: host, Port: port})
		var e *cluster.RendezvousError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want a RendezvousError with %q", host, err, want)
		}
	}
}

// A process with the token of another run is told so, and the run goes on undisturbed.
func TestStrangersAreTurnedAway(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close() // free again: the run below takes it
	self, _ := os.Executable()
	dir := t.TempDir()
	begin := filepath.Join(dir, "begin")
	answer, token := make(chan error), newToken(t)
	go func() {
		var err error
		for errors.Is(err, syscall.ECONNREFUSED) || err == nil {
			time.Sleep(time.Millisecond)
			err = cluster.Reach(t.Context(), fmt.Sprintf("127.0.0.1:%d", port), token)
		}
		os.WriteFile(begin, nil, 0o600)
		answer <- err
	}()
	var refused []error
	_, err = cluster.Launch(t.Context(), cluster.LaunchConfig{World: 2, Port: port,
		Command: []string{self},
		Environment: cluster.ProcessEnvironment().With(cluster.Environment{behaviour: "well",
			beginWith: begin}),
		Refused: func(err error) { refused = append(refused, err) },
		Log:     func(rank int) string { return filepath.Join(dir, strconv.Itoa(rank)) }})
	if err != nil {
		t.Error(err)
	}
	if got := <-answer; !errors.Is(got, pass.ErrOtherRun) {
		t.Errorf("the stranger got %v, want ErrOtherRun", got)
	}
	if len(refused) != 1 || !errors.Is(refused[0], pass.ErrOtherRun) ||
		!strings.Contains(refused[0].Error(), "refused a process at 127.0.0.1:") {
		t.Errorf("the launcher reports %v, want ErrOtherRun once", refused)
	}
}

// Hundreds of idle connections to the rendezvous do not keep a run from starting.
func TestIdleStrangersAreEvicted(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close() // free again: the run below takes it
	self, _ := os.Executable()
	dir := t.TempDir()
	begin := filepath.Join(dir, "begin")
	idle := make(chan int)
	go func() {
		n := 0
		for deadline := time.Now().Add(10 * time.Second); n < 300 && time.Now().Before(deadline); {
			conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				time.Sleep(time.Millisecond)
				continue
			}
			defer conn.Close()
			n++
		}
		os.WriteFile(begin, nil, 0o600)
		idle <- n
		<-idle
	}()
	_, err = cluster.Launch(t.Context(), cluster.LaunchConfig{World: 2, Port: port,
		Command: []string{self},
		Environment: cluster.ProcessEnvironment().With(cluster.Environment{behaviour: "well",
			beginWith: begin}),
		Log: func(rank int) string { return filepath.Join(dir, strconv.Itoa(rank)) }})
	if err != nil {
		t.Error(err)
	}
	if n := <-idle; n != 300 {
		t.Errorf("%d idle connections", n)
	}
	close(idle)
}

// The exit of a process and what it said last come by different ways, in any order.
func TestLaunchReadsTheLastWordsOfEveryProcess(t *testing.T) {
	times := 20
	if testing.Short() {
		times = 5
	}
	for range times {
		results, err := launch(t, t.Context(), "well", 1)
		if err != nil || len(results[0]) == 0 {
			t.Fatalf("result %q, %v", results, err)
		}
	}
}
