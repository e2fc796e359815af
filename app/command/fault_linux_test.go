package command

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockstep/app/job"
	"lockstep/cluster"

	"golang.org/x/sys/unix"
)

var (
	faultRounds = flag.Int("faults", 0, "rounds of each fault of TestFaults; 0: one of some")
	faultSeed   = flag.Uint64("faultseed", 1, "seed of its random ranks and steps")
	faultFile   = flag.String("faultfile", "", "file that gets its results")
)

// faultHosts is the number of hosts, each with a worker of the same rank; rank 0's is the launcher's.
const faultHosts = 3

// faultTrain are the flags of the runs that are disturbed, which last some seconds.
var faultTrain = strings.Fields("train --model lenet --data glyphs --limit-train 256 --limit-test 32 " +
	"--batch 32 --shards 6 --workers 3 --threads 1 --strategy ddp --algorithm direct --link tcp " +
	"--checkpoint-every 10 --augment none --eval-every 10 --steps")

const (
	faultSteps = 1600                          // a cut comes up to 2.5 s after the start
	slowSteps  = 3200                          // it takes a while to use memory up
	lossySteps = 4                             // with 30 % loss each takes some seconds
	faultBound = 5*time.Second + 3*time.Second // of silence, see defaultSilence in cluster; the rest is load
	hangBound  = cluster.StuckAfter + 3*time.Second
	largeMTU   = "32000" // with 30 % loss most packets cost a retransmission
)

// Faults that a worker of a test brings on itself.
const (
	hangs  = "hang"
	strays = "mismatched collective"
)

// fault is something that happens to a run of three workers on three hosts.
type fault struct {
	name  string
	steps int
	// lab returns flags of the lab; strike does it to the worker when it is past the step.
	lab    func(host int, from, until time.Duration) []string
	strike func(t *testing.T, r *running, rank int)
	// want is what the launcher says of the rank, and each survivor in its log. own, if it is not "", is
	// what the rank itself writes.
	want, own string
	group     bool          // the run has a control group with little memory
	bound     time.Duration // from the fault to the last survivor's word; 0: the run goes on
	isLong    bool          // not among those of every test: another one has it on one host
}

func faults() []fault {
	cut := func(way string) func(int, time.Duration, time.Duration) []string {
		return func(host int, from, until time.Duration) []string {
			return []string{"--cut", fmt.Sprintf("%d@%v-%v%s", host, from, until, way)}
		}
	}
	send := func(s syscall.Signal) func(*testing.T, *running, int) {
		return func(_ *testing.T, r *running, rank int) { syscall.Kill(r.pid(rank), s) }
	}
	const silent, deaf = `has given no sign of life for \d\S*s after step`,
		`is heard but has heard nothing from the launcher for \d\S*s: ` +
			`its link is cut in one direction after step`
	return []fault{
		{name: "kill -9", strike: send(syscall.SIGKILL), bound: 2 * time.Second,
			want: `was killed by signal SIGKILL after step`},
		{name: "SIGSTOP", strike: send(syscall.SIGSTOP), bound: faultBound, isLong: true,
			want: `is stopped by a signal and ` + silent},
		{name: "cut", lab: cut(""), want: silent, bound: faultBound,
			own: `is cut off: no sign of life from the launcher at 10\.77\.0\.1:\d+ for \d\S*s after step`},
		{name: "cut outward", lab: cut(":out"), want: silent, bound: faultBound, isLong: true},
		{name: "cut inward", lab: cut(":in"), want: deaf, bound: faultBound, isLong: true,
			own: `is cut off: no sign of life from the launcher at 10\.77\.0\.1:\d+ for \d\S*s after step`},
		{name: hangs, bound: hangBound, isLong: true, strike: func(t *testing.T, r *running, rank int) {
			mayWrite(r.pid(rank), false)
		}, want: `is stuck: it has not got on for (9|\d\d)\S*s after step \d+, ` +
			`phase optimizer, in lockstep/app/command\.hang\.Write \(time\.Sleep\)`},
		{name: strays, bound: 2 * time.Second, want: `failed after step \d+, phase \w+: it is in ` +
			`all-gather \d+ \(counts, 24 bytes\), rank \d and 1 more in all-\w+ \d+ \(`},
		{name: "out of memory", steps: slowSteps, group: true, bound: 2 * time.Second, isLong: true,
			strike: func(t *testing.T, r *running, rank int) { useMemory(t, r.pid(rank), r.group) },
			want: `was killed by signal SIGKILL after step \d+, phase \w+.*; likely cause: out of memory; ` +
				`the kernel killed it because its control group has used up its limit of 512 MiB`},
		{name: "loss of 30 %", steps: lossySteps, lab: lossy, isLong: true},
	}
}

// lossy returns the flags of a lab that loses 30 % of all packets.
func lossy(int, time.Duration, time.Duration) []string {
	return []string{"--loss", "30%", "--mtu", largeMTU}
}

// faultResult is a line of the results.
type faultResult struct {
	Fault  string `json:"fault"`
	By     string `json:"mended_by,omitempty"` // what started the run again; "": train --resume, by hand
	Seed   uint64 `json:"seed"`
	Rank   int    `json:"rank"`
	Step   int    `json:"step"`             // finished, as the error says
	Slow   int64  `json:"ms,omitempty"`     // until the last survivor had named the rank
	End    int64  `json:"end_ms,omitempty"` // until the launcher had ended
	Error  string `json:"error,omitempty"`
	Resume string `json:"parameter_sha256"`
}

// Whatever happens to a worker or to its host's link, every survivor names it within a bound, the run ends
// with status 5 and leaves nothing behind, and the resumed run ends with the parameters of one that nothing
// has disturbed. Loss alone ends no run.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute; make faults takes half an hour")
	}
	if !hasLab() {
		t.Skip("this machine lets the user make no hosts: lockstep lab -- version says why")
	}
	undisturbed := map[int]string{}
	for _, f := range faults() {
		if f.steps == 0 {
			f.steps = faultSteps
		}
		if f.isLong && *faultRounds == 0 {
			continue
		}
		f.undisturb(t, undisturbed)
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			var slow []int64
			for round := range max(1, *faultRounds) {
				seed := *faultSeed + uint64(round)
				got := f.round(t, seed)
				if f.bound == 0 {
					got.Slow = got.End // nobody is named
				}
				slow = append(slow, got.Slow)
				if got.Resume != undisturbed[f.steps] {
					t.Errorf("seed %d: resumed, the run ends with %s, undisturbed with %s", seed, got.Resume,
						undisturbed[f.steps])
				}
				got.keep(t)
			}
			slices.Sort(slow)
			t.Logf("%s: %d rounds; all survivors had named the rank, or the run had ended, after %d ms "+
				"(median), %d ms (worst)", f.name, len(slow), slow[len(slow)/2], slow[len(slow)-1])
		})
	}
}

// undisturb adds the hash with which the run ends if nothing happens to it.
func (f fault) undisturb(t *testing.T, hashes map[int]string) {
	t.Helper()
	if hashes[f.steps] == "" {
		out := filepath.Join(t.TempDir(), "run")
		must(t, slices.Concat(faultTrain, []string{strconv.Itoa(f.steps), "--out", out})...)
		hashes[f.steps] = hash(t, out)
	}
}

// keep appends a line to the results.
func (r faultResult) keep(t *testing.T) {
	t.Helper()
	appendLine(t, *faultFile, r)
}

// round disturbs one run and resumes it.
func (f fault) round(t *testing.T, seed uint64) faultResult {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, uint64(len(f.name))))
	rank := random.IntN(faultHosts)
	if (f.lab != nil || f.name == hangs) && rank == 0 {
		// TestTheLaunchersHostIsCutOff cuts that of rank 0, TestStuckWorkerIsNamed has any rank hang.
		rank = 1 + random.IntN(faultHosts-1)
	}
	step := 40 + random.IntN(faultSteps/2)
	from := 1500*time.Millisecond + time.Duration(random.IntN(1000))*time.Millisecond
	result := faultResult{Fault: f.name, Seed: seed, Rank: rank}
	r, began := f.start(t, rank, step, from)
	if f.bound == 0 {
		r.ends(t, job.ExitOK)
		result.End, result.Resume = time.Since(began).Milliseconds(), hash(t, r.out)
		return result
	}
	struck := began.Add(from)
	if f.strike != nil {
		r.until(t, "it is past the step", func() bool { return r.steps(rank) >= step })
		struck = time.Now()
		f.strike(t, r, rank)
	}
	if f.group {
		struck = time.Now() // it took a while to use the memory up
	}
	pids := make([]int, faultHosts)
	for i := range pids {
		pids[i] = r.pid(i)
	}
	r.ends(t, job.ExitPeerLost)
	if info, err := os.Stat(strayFile(r.out)); err == nil {
		struck = info.ModTime()
	}
	result.End = time.Since(struck).Milliseconds()
	result.Error = f.checkWords(t, r, rank, pids[rank], seed)
	for i, pid := range pids {
		if i != rank {
			result.Slow = max(result.Slow, r.spoke(t, i).Sub(struck).Milliseconds())
		}
		if isAlive(pid) {
			t.Errorf("seed %d: rank %d, pid %d, is left", seed, i, pid)
		}
	}
	bound := f.bound
	if *faultRounds == 0 { // not make faults, so the machine may have other things to do
		bound += time.Minute
	}
	if took := time.Duration(result.Slow) * time.Millisecond; took > bound {
		t.Errorf("seed %d: the last survivor has named the rank after %v, want at most %v", seed, took,
			bound)
	}
	if at := regexp.MustCompile(`after step (\d+)`).FindStringSubmatch(result.Error); at != nil {
		result.Step, _ = strconv.Atoi(at[1])
	}
	result.Resume = f.again(t, r)
	return result
}

// again resumes the run, or repeats it if the fault came before its first checkpoint, and returns the hash.
func (f fault) again(t *testing.T, r *running) string {
	t.Helper()
	out, args := r.out, []string{"train", "--resume", r.out}
	if kept, _ := filepath.Glob(filepath.Join(out, "checkpoints", "step-*")); kept == nil {
		out = filepath.Join(t.TempDir(), "run")
		args = slices.Concat(faultTrain, []string{strconv.Itoa(f.steps), "--out", out})
	}
	must(t, args...)
	return hash(t, out)
}

// start starts the run in the lab.
func (f fault) start(t *testing.T, rank, step int, from time.Duration) (r *running, began time.Time) {
	out := filepath.Join(t.TempDir(), "run")
	lab := []string{"lab", "--hosts", strconv.Itoa(faultHosts)}
	if f.lab != nil {
		lab = append(lab, f.lab(rank, from, time.Hour)...)
	}
	group := ""
	if f.group {
		group = memoryGroup(t)
	}
	r = begin(t, out, group, f.variable(out, rank, step), slices.Concat(lab, []string{"--"}, faultTrain,
		[]string{strconv.Itoa(f.steps)}))
	r.until(t, "the lab starts", func() bool { return r.stderr.String() != "" })
	began = time.Now()
	for i := range faultHosts {
		r.until(t, "its workers train", func() bool { return r.pid(i) > 0 })
	}
	return r, began
}

// variable returns what lets a worker bring the fault on itself; "": nothing.
func (f fault) variable(out string, rank, step int) string {
	switch f.name {
	case hangs:
		return fmt.Sprintf("%s=%d", hangRank, rank)
	case strays:
		return fmt.Sprintf("%s=%d:%d:%s", strayAt, rank, step, strayFile(out))
	}
	return ""
}

// begin starts the tool with a run directory, in a control group and with one more variable, if these are
// not "".
func begin(t *testing.T, out, group, variable string, arguments []string) *running {
	t.Helper()
	c := tool(t, slices.Concat(arguments, []string{"--out", out})...)
	if group != "" {
		c = exec.Command("/bin/sh", slices.Concat([]string{"-c", `echo $$ >"$0" && exec "$@"`,
			filepath.Join(group, "cgroup.procs"), c.Path}, c.Args[1:])...)
	}
	if variable != "" {
		c.Env = append(os.Environ(), variable)
	}
	r := &running{out: out, group: group}
	r.started(t, c)
	return r
}

// checkWords checks that the launcher and all survivors say the same of the rank, and returns it.
func (f fault) checkWords(t *testing.T, r *running, rank, pid int, seed uint64) string {
	t.Helper()
	text := regexp.MustCompile(`(?m)^lockstep: (rank .*)$`).FindStringSubmatch(r.stderr.String())
	if text == nil {
		t.Fatalf("seed %d: no error on stderr: %s", seed, r.stderr.String())
	}
	want := regexp.MustCompile(fmt.Sprintf(`^rank %d \(pid %d on host%d\) %s`, rank, pid, rank, f.want))
	if !want.MatchString(text[1]) {
		t.Errorf("seed %d: the launcher says %q, want %v", seed, text[1], want)
	}
	for i := range faultHosts {
		log, err := os.ReadFile(filepath.Join(r.out, fmt.Sprintf("rank%d.log", i)))
		if err != nil {
			t.Fatal(err)
		}
		said := fmt.Sprintf("lockstep: rank %d: the run has ended: %s\n", i, text[1])
		if i != rank && !strings.HasSuffix(string(log), said) {
			t.Errorf("seed %d: rank %d ends with %q, want %q", seed, i, log, said)
		}
		if own := regexp.MustCompile(f.own); i == rank && !own.Match(log) &&
			!strings.HasSuffix(string(log), said) {
			t.Errorf("seed %d: rank %d itself ends with %q, want %v", seed, i, log, own)
		}
	}
	return text[1]
}

// mayWrite says whether a process may write to files.
func mayWrite(pid int, isAllowed bool) {
	limit := unix.Rlimit{Cur: 0, Max: unix.RLIM_INFINITY}
	if isAllowed {
		limit.Cur = limit.Max
	}
	unix.Prlimit(pid, unix.RLIMIT_FSIZE, &limit, nil) // what the test waits for shows that it has worked
}

// strayFile names the file that a worker of a run makes before it issues another collective than others.
func strayFile(out string) string { return out + ".stray" }

// steps returns how many steps a rank has written down.
func (r *running) steps(rank int) int {
	text, _ := os.ReadFile(filepath.Join(r.out, "steps.jsonl"))
	return strings.Count(string(text), fmt.Sprintf(`{"rank":%d,`, rank))
}

// spoke returns when a worker wrote to its log the last time.
func (r *running) spoke(t *testing.T, rank int) time.Time {
	t.Helper()
	info, err := os.Stat(filepath.Join(r.out, fmt.Sprintf("rank%d.log", rank)))
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

// Workers that are cut off with the launcher on the other side end with their own name for it, and the
// launcher with the host that they all cannot reach.
func TestTheLaunchersHostIsCutOff(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	if !hasLab() {
		t.Skip("this machine lets the user make no hosts: lockstep lab -- version says why")
	}
	t.Parallel()
	f := fault{steps: faultSteps, lab: faults()[2].lab}
	const from = 1500 * time.Millisecond
	r, _ := f.start(t, 0, 0, from)
	r.ends(t, job.ExitPeerLost)
	want := "likely cause: the launcher's host is cut off: so it is with all workers on other hosts"
	if !strings.Contains(r.stderr.String(), want) {
		t.Errorf("stderr %q, want %q", r.stderr.String(), want)
	}
	for rank := 1; rank < faultHosts; rank++ {
		log, err := os.ReadFile(filepath.Join(r.out, fmt.Sprintf("rank%d.log", rank)))
		want := fmt.Sprintf(`rank %d \(pid %d on host%d\) is cut off: no sign of life from the launcher at `,
			rank, r.pid(rank), rank)
		if err != nil || !regexp.MustCompile(want).Match(log) {
			t.Errorf("%v; rank %d ends with %q, want %q", err, rank, log, want)
		}
	}
}
