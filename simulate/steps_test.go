package simulate_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/random"
	"lockstep/shard"
	"lockstep/simulate"
)

// hosts is a topology of hosts with as many ranks each.
func hosts(n, ranks int) comm.Topology {
	var names []string
	for i := range n * ranks {
		names = append(names, fmt.Sprint(i/ranks))
	}
	return comm.NewTopology(names)
}

// parameters is a model of parameters that are final in this order.
func parameters(elems ...int) simulate.Model {
	var m simulate.Model
	at := 0
	for i, n := range elems {
		m.Order = append(m.Order, i)
		m.Segments = append(m.Segments, gradsync.Segment{Offset: at, Len: n})
		at += n
	}
	return m
}

// vgg11 is the network of CIFAR-10, of 9,231,114 parameters in 34 tensors; the last layers come first.
func vgg11() simulate.Model {
	elems := []int{10, 5120}
	channels := []int{3, 64, 128, 256, 256, 512, 512, 512, 512}
	for i := len(channels) - 1; i > 0; i-- {
		elems = append(elems, channels[i], channels[i], channels[i], 9*channels[i-1]*channels[i])
	}
	return parameters(elems...)
}

// lab is vgg11 on hosts with a worker each, over links with a rate in bit/s.
func lab(n int, compute, backward, rate float64) simulate.Job {
	return simulate.Job{Strategy: "ddp", Topology: hosts(n, 1), Model: vgg11(), BucketBytes: 1 << 20,
		Add:     2e-10,
		Workers: []simulate.Passes{{Forward: compute - backward, Backward: backward, Update: 0.01}},
		Network: simulate.Network{Outside: simulate.Link{Latency: 2e-4, Byte: 8 / rate}}}
}

// first simulates a job without noise and returns a step.
func first(t *testing.T, j simulate.Job) simulate.Step {
	t.Helper()
	steps, err := simulate.Steps(j, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return steps[0]
}

func near(a, b, within float64) bool {
	return math.Abs(a-b) <= within*math.Max(math.Abs(a), math.Abs(b))
}

// Collectives of equal ranks take what comm predicts of their schedules, message by message and in a large
// world.
func TestCollectivesTakeWhatIsPredicted(t *testing.T) {
	outside := simulate.Link{Latency: 1e-3, Message: 1e-4, Byte: 1e-8}
	inside := simulate.Link{Latency: 1e-5, Message: 2e-6, Byte: 1e-10}
	for _, c := range []struct {
		topology  comm.Topology
		algorithm string
		sharers   float64 // ranks that share a host's link
		crossing  float64
	}{
		{hosts(2, 1), "direct", 1, 0.3}, {hosts(5, 1), "direct", 1, 0}, {hosts(5, 1), "direct", 1, 0.3},
		{hosts(8, 1), "direct", 1, 0}, {hosts(8, 1), "halving-doubling", 1, 0.3},
		{hosts(6, 1), "ring", 1, 0}, {hosts(5, 1), "gather", 1, 0}, {hosts(4, 1), "tree", 1, 0},
		{hosts(4, 1), "one-shot", 1, 0}, {hosts(4, 4), "hierarchical", 4, 0},
		{comm.OneHost(4), "direct", 1, 0.3}, {hosts(1, 8), "halving-doubling", 1, 0.3},
	} {
		const elems = 3 * 5 * 1 << 16 // in four segments
		j := simulate.Job{Strategy: "all-reduce", Algorithm: c.algorithm, Topology: c.topology,
			Add: 1e-9, Workers: []simulate.Passes{{}}, Model: parameters(elems),
			Network: simulate.Network{Inside: inside, Outside: outside, Crossing: c.crossing}}
		p := c.topology.Size()
		plan, err := shard.Cut(p, p)
		if err != nil {
			t.Fatal(err)
		}
		tuning := comm.Tuning{Add: 1e-9, Inside: speed(inside), Outside: speed(outside)}
		tuning.Outside.Crossing = c.crossing
		tuning.Outside.Byte *= c.sharers
		tuning.Outside.Message *= c.sharers
		want := 0.0
		for lo := 0; lo < elems; lo += comm.SegmentElems {
			n := min(comm.SegmentElems, elems-lo)
			s, err := comm.PlanAllReduce(c.algorithm, c.topology, plan, 0, n)
			if err != nil {
				t.Fatal(err)
			}
			want += tuning.Predict(s, c.topology, 0)
		}
		within := 1e-9
		if elems%p != 0 || comm.SegmentElems%p != 0 {
			within = 1e-4 // parts differ by an element
		}
		exact := within
		if c.algorithm == "gather" {
			exact = 0.01 // each sender has one message, so that none is a further one
		}
		if got := first(t, j).Seconds; !near(got, want, exact) {
			t.Errorf("%s of %d ranks: %v s, want %v", c.algorithm, p, got, want)
		}
		if got := first(t, j.WithMost(1)).Seconds; !near(got, want, within) {
			t.Errorf("%s of %d ranks in a large world: %v s, want %v", c.algorithm, p, got, want)
		}
	}
}

func speed(l simulate.Link) comm.LinkSpeed {
	return comm.LinkSpeed{Latency: l.Latency, Message: l.Message, Byte: l.Byte}
}

// The steps that results/lab measured: four workers at 1 Gbit/s, two at 300 Mbit/s and at 1 Gbit/s, on two
// cores, which moving a byte takes a nanosecond of.
func TestMeasuredSteps(t *testing.T) {
	shared := func(n int, compute, backward, rate float64) simulate.Job {
		j := lab(n, compute, backward, rate)
		j.Machines, j.MachineOf = []simulate.Machine{{Cores: 2}}, make([]int, n)
		for i, p := range j.Workers { // measured while the workers shared the cores
			f := min(1, 2/float64(n))
			j.Workers[i].Forward, j.Workers[i].Backward = f*p.Forward, f*p.Backward
			j.Workers[i].Update = f * p.Update
		}
		j.Network.Outside.CPUByte, j.Network.Outside.Burst = 1e-9, 72<<10
		j.Network.Crossing, j.Network.Unevenness = comm.Crossing, simulate.Unevenness
		j.Algorithm = "direct" // as it was chosen then
		return j
	}
	for _, c := range []struct {
		job      simulate.Job
		strategy string
		isLate   bool
		want     float64
	}{
		{shared(4, 0.65, 0.42, 1e9), "gather-scatter", false, 2.293},
		{shared(4, 0.65, 0.42, 1e9), "all-reduce", false, 1.182},
		{shared(4, 0.65, 0.42, 1e9), "ddp", false, 0.851},
		{shared(4, 0.65, 0.42, 1e9), "none", false, 0.660},
		{shared(2, 0.72, 0.45, 3e8), "ddp", false, 1.371},
		{shared(2, 0.72, 0.45, 3e8), "ddp", true, 1.170},
		{shared(2, 0.68, 0.45, 1e9), "ddp", false, 0.745},
		{shared(2, 0.68, 0.45, 1e9), "ddp", true, 0.746},
	} {
		c.job.Strategy, c.job.OverlapForward = c.strategy, c.isLate
		got, say := first(t, c.job).Seconds, t.Logf
		if !near(got, c.want, 0.06) {
			say = t.Errorf
		}
		say("%d workers by %s, late %v, at %.3g bit/s: %.0f ms, measured %.0f", c.job.Topology.Size(),
			c.strategy, c.isLate, 8/c.job.Network.Outside.Byte, 1e3*got, 1e3*c.want)
	}
}

// Two buckets of equal parts: the first hides behind the second half of the backward pass, the second cannot.
func TestOverlapHidesWhatItCan(t *testing.T) {
	const elems, each = 1 << 18, 4e-8 // a bucket takes 2 * 1/2 * 2^20 bytes * each
	bucket := float64(4*elems) * each
	for _, backward := range []float64{0.01, 0.5} {
		j := simulate.Job{Strategy: "ddp", Topology: hosts(2, 1), Model: parameters(elems, elems),
			BucketBytes: 4 * elems,
			Workers:     []simulate.Passes{{Forward: 0.1, Backward: backward}},
			Network:     simulate.Network{Outside: simulate.Link{Byte: each}}}
		want := 0.1 + max(backward, backward/2+bucket) + bucket
		if got := first(t, j).Seconds; !near(got, want, 1e-9) {
			t.Errorf("backward %v s: step %v, want %v", backward, got, want)
		}
		// The next forward pass waits for the second bucket before its first parameter.
		j.OverlapForward = true
		want = 0.1 + max(backward, backward/2+bucket) + bucket
		if got := first(t, j).Seconds; !near(got, want, 1e-9) {
			t.Errorf("backward %v s, late: step %v, want %v", backward, got, want)
		}
	}
}

// Without cost of the network a step is its computation, whatever the strategy.
func TestAFreeNetworkLeavesComputation(t *testing.T) {
	for _, strategy := range []string{"none", "gather-scatter", "all-reduce", "ddp", "ps", "local-sgd"} {
		j := lab(4, 0.6, 0.4, 1e9)
		j.Strategy, j.Network, j.Add, j.Model.RowBytes = strategy, simulate.Network{}, 0, 100
		want := simulate.Step{Seconds: 0.61, Compute: 0.6, Update: 0.01}
		if strategy == "ps" { // the server's last update is not hidden
			want.Update = 0
		}
		got := first(t, j)
		if got.Bytes == 0 != (strategy == "none") {
			t.Errorf("%s moves %v bytes", strategy, got.Bytes)
		}
		if !near(got.Compute, want.Compute, 1e-9) || !near(got.Update, want.Update, 1e-9) ||
			got.Seconds > want.Seconds+1e-9 || got.Waiting > 1e-9 {
			t.Errorf("%s: %+v, want %+v", strategy, got, want)
		}
	}
}

// A slower link, host or worker makes no step shorter.
func TestStepsAreMonotonic(t *testing.T) {
	worse := []func(j *simulate.Job){
		func(j *simulate.Job) { j.Network.Outside.Byte *= 2 },
		func(j *simulate.Job) { j.Network.Outside.Latency *= 4 },
		func(j *simulate.Job) { j.Network.Outside.CPUByte *= 2 },
		func(j *simulate.Job) { j.Workers[1].Backward *= 1.5 },
		func(j *simulate.Job) { j.Machines[0].Cores = 1 },
		func(j *simulate.Job) { j.Machines[0].Crowding = []float64{1, 1.3} },
		func(j *simulate.Job) { j.Add *= 3 },
	}
	for _, strategy := range []string{"gather-scatter", "all-reduce", "ddp", "ps", "local-sgd"} {
		within := 1e-9
		if strategy == "ps" {
			within = 0.02 // messages of workers meet on the server's link in another order
		}
		make := func() simulate.Job {
			j := lab(3, 0.3, 0.2, 1e9)
			j.Strategy, j.Network.Outside.CPUByte = strategy, 5e-10
			j.Workers = []simulate.Passes{j.Workers[0], j.Workers[0], j.Workers[0]}
			j.Machines, j.MachineOf = []simulate.Machine{{Cores: 2}}, []int{0, 0, 0}
			return j
		}
		before := first(t, make())
		sum := before.Compute + before.Waiting + before.Exposed + before.Update
		if !near(sum, before.Seconds, 1e-9) {
			t.Errorf("%s: terms of %+v add up to %v", strategy, before, sum)
		}
		for i, change := range worse {
			j := make()
			change(&j)
			if got := first(t, j); got.Seconds < before.Seconds*(1-within) {
				t.Errorf("%s: change %d makes a step of %v s one of %v", strategy, i, before.Seconds,
					got.Seconds)
			}
		}
	}
}

// Computation shares cores, and what moves bytes takes its part of them.
func TestCoresAreShared(t *testing.T) {
	j := simulate.Job{Strategy: "none", Topology: comm.OneHost(4),
		Workers:  []simulate.Passes{{Forward: 1}},
		Machines: []simulate.Machine{{Cores: 2, Crowding: []float64{1, 1.1, 1.1, 1.25}}}}
	if got := first(t, j).Seconds; !near(got, 2*1.25, 1e-9) {
		t.Errorf("four workers on two cores: %v s, want 2.5", got)
	}
	// Two workers on two cores exchange 1 MiB in one direction each, in the background of a long pass:
	// moving it takes core seconds that computation then lacks.
	const elems, moving = 1 << 18, 1e-7
	j = simulate.Job{Strategy: "ddp", Topology: comm.OneHost(2), Model: parameters(elems, 1),
		BucketBytes: 4 * elems, Algorithm: "direct", Workers: []simulate.Passes{{Backward: 10}},
		Machines: []simulate.Machine{{Cores: 2}},
		Network:  simulate.Network{Inside: simulate.Link{Byte: moving, CPUByte: moving}}}
	j.Model.Ready = []float64{0.1, 1}
	taken := 2 * 4 * elems * moving // by each worker: what it sends and what it receives
	if got := first(t, j).Seconds; !near(got, 10+taken, 1e-6) {
		t.Errorf("a step of 10 s beside %v s of moving bytes: %v", taken, got)
	}
}

// A worker that is slow in one step makes the others wait, and noise is that of its worker and step.
func TestNoise(t *testing.T) {
	j := lab(4, 0.6, 0.4, 1e12)
	j.Network.Outside.Latency = 0
	steps, err := simulate.Steps(j, 8, func(rank, step int) float64 {
		if rank == 2 && step%2 == 0 {
			return 1.5
		}
		return 0
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range steps {
		want := 0.61 + 0.3*float64((i+1)%2)
		if !near(s.Seconds, want, 2e-3) || !near(s.Waiting, (want-0.61)*3/4, 2e-3) {
			t.Errorf("step %d: %+v, want %v s", i, s, want)
		}
	}
}

// The same job has the same steps.
func TestStepsAreRepeatable(t *testing.T) {
	draw := func(rank, step int) float64 {
		return 1 + 0.2*random.Derive(uint64(rank)).Unit(uint64(step))
	}
	for _, strategy := range []string{"ddp", "ps", "ps-async"} {
		j := lab(5, 0.6, 0.4, 1e9)
		j.Strategy, j.Servers.Staleness = strategy, 5
		one, err := simulate.Steps(j, 4, draw)
		two, again := simulate.Steps(j, 4, draw)
		if err != nil || again != nil || !reflect.DeepEqual(one, two) {
			t.Errorf("%s: %v and %v, errors %v, %v", strategy, one, two, err, again)
		}
	}
}

// A server with the link of one host is slower than four, and nobody waits for a slow worker when updates are
// made as gradients come.
func TestServers(t *testing.T) {
	j := lab(4, 0.2, 0.1, 1e9)
	j.Strategy = "ps"
	one := first(t, j)
	if want := 3 * 4 * 9231114 * 8e-9; one.Seconds < want || one.Bytes < 6*4*9231114*0.99 {
		t.Errorf("one server: %+v, but its link takes %v s", one, want)
	}
	j.Servers.Count = 4
	if four := first(t, j); four.Seconds > 0.7*one.Seconds {
		t.Errorf("four servers: step of %v s, one: %v", four.Seconds, one.Seconds)
	}
	j = lab(4, 0.6, 0.4, 1e12)
	p := j.Workers[0]
	slow := p
	slow.Forward, slow.Backward = 10*p.Forward, 10*p.Backward
	j.Strategy, j.Workers, j.Servers.Staleness = "ps-async", []simulate.Passes{p, p, slow, p}, 100
	steps, err := simulate.Steps(j, 40, nil)
	if err != nil {
		t.Fatal(err)
	}
	mean := 0.0
	for _, s := range steps {
		mean += s.Seconds / float64(len(steps))
	}
	if want := 1 / (3/0.6 + 1/6.0); !near(mean, want, 0.05) {
		t.Errorf("an update takes %v s, want the rates added up: %v", mean, want)
	}
}

// Rounds of averages cost what their exchange takes, once.
func TestAveragesOnceARound(t *testing.T) {
	j := lab(2, 0.1, 0.06, 1e9)
	j.Strategy, j.Averages.Every, j.Add = "local-sgd", 4, 0
	j.Algorithm = "direct"
	steps, err := simulate.Steps(j, 8, nil)
	if err != nil {
		t.Fatal(err)
	}
	exchange := 4*9231114*8e-9 + 2*36*2e-4
	for i, s := range steps {
		want := 0.11
		if i%4 == 3 {
			want += exchange
		}
		if !near(s.Seconds, want, 1e-3) {
			t.Errorf("step %d takes %v s, want %v", i, s.Seconds, want)
		}
	}
}

// A link between switches that is shared by more than it carries bounds what crosses it.
func TestOversubscription(t *testing.T) {
	for _, most := range []int{16, 1} {
		j := lab(8, 0, 0, 1e9).WithMost(most)
		j.Strategy, j.Algorithm, j.Model, j.Add = "all-reduce", "direct", parameters(1<<18), 0
		j.Network.Outside.Latency = 0
		even := first(t, j)
		j.Network.Group, j.Network.Oversubscription = 4, 4
		// 4 of the 7 peers are behind the other switch, so that 4/7 of the bytes take four times as
		// long.
		want := even.Exposed * 4 * 4 / 7
		if got := first(t, j).Exposed; !near(got, want, 0.02) {
			t.Errorf("most %d: %v s, want %v", most, got, want)
		}
	}
}

// A thousand workers are simulated in seconds.
func TestThousandWorkers(t *testing.T) {
	begun := time.Now()
	for _, algorithm := range []string{"direct", "ring", "halving-doubling", "hierarchical"} {
		j := lab(1024, 0.65, 0.42, 1e9)
		j.Algorithm, j.Topology, j.BucketBytes = algorithm, hosts(256, 4), 4<<20
		steps, err := simulate.Steps(j, 1, func(rank, _ int) float64 {
			return 1 + 0.1*random.Derive(uint64(rank)).Unit(0)
		})
		if err != nil || steps[0].Seconds < 0.65 {
			t.Errorf("%s: %v, error %v", algorithm, steps, err)
		}
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

// The mean of steps holds the average at the end of each round, whatever number is asked for.
func TestMeanHasWholeRounds(t *testing.T) {
	j := lab(4, 0.6, 0.4, 1e9)
	j.Strategy, j.Averages.Every = "diloco", 5
	round, err := simulate.Steps(j, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, s := range round {
		total += s.Seconds
	}
	if !(round[4].Exposed > 0.01) || round[0].Exposed != 0 {
		t.Errorf("the last step waits %g s, the first %g", round[4].Exposed, round[0].Exposed)
	}
	for n := 1; n <= 10; n += 3 {
		got, err := simulate.Mean(j, n, nil)
		if err != nil || !near(got.Seconds, total/5, 1e-9) || !near(got.Exposed, round[4].Exposed/5, 1e-9) {
			t.Errorf("mean of %d steps %+v, %v; want %g s", n, got, err, total/5)
		}
	}
	if _, err := simulate.Mean(simulate.Job{}, 1, nil); err == nil {
		t.Error("no error of no job")
	}
}

func TestBinding(t *testing.T) {
	for want, change := range map[simulate.Constraint]func(j *simulate.Job){
		simulate.Compute:   func(j *simulate.Job) { j.Network.Outside.Byte = 1e-12 },
		simulate.Bandwidth: func(j *simulate.Job) { j.Network.Outside.Byte = 1e-6 },
		simulate.Latency:   func(j *simulate.Job) { j.Network.Outside.Latency = 1 },
		simulate.Cores: func(j *simulate.Job) {
			j.Machines, j.MachineOf = []simulate.Machine{{Cores: 1}}, []int{0, 0, 0, 0}
			j.Workers[0].Threads = 1
		},
		simulate.Slowest: func(j *simulate.Job) {
			p := j.Workers[0]
			slow := p
			slow.Backward = 5
			j.Workers = []simulate.Passes{p, p, slow, p}
		},
		simulate.Codec: func(j *simulate.Job) {
			j.Wire = simulate.Wire{Encode: 1e-7, Decode: 1e-7, Ratio: 0.5}
		},
	} {
		j := lab(4, 0.6, 0.4, 1e10)
		j.Strategy, j.Algorithm = "all-reduce", "direct"
		change(&j)
		if got, err := simulate.Binding(j); got != want || err != nil {
			t.Errorf("%s binds, want %s, error %v", got, want, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for want, change := range map[string]func(j *simulate.Job){
		"strategy":    func(j *simulate.Job) { j.Strategy = "x" },
		"topology":    func(j *simulate.Job) { j.Topology = comm.Topology{} },
		"passes of 2": func(j *simulate.Job) { j.Workers = make([]simulate.Passes, 2) },
		"worker 0":    func(j *simulate.Job) { j.Workers[0].Forward = math.NaN() },
		"ready":       func(j *simulate.Job) { j.Model.Ready = []float64{1} },
		"order":       func(j *simulate.Job) { j.Model.Order = []int{0} },
		"machine 3": func(j *simulate.Job) {
			j.MachineOf, j.Machines = []int{0, 1, 2, 3}, make([]simulate.Machine, 3)
		},
		"negative":   func(j *simulate.Job) { j.Network.Outside.Byte = -1 },
		"algorithm":  func(j *simulate.Job) { j.Algorithm = "fast" },
		"plan for 3": func(j *simulate.Job) { j.Plan, _ = shard.Cut(3, 3) },
		"averages":   func(j *simulate.Job) { j.Averages.Parts = 3 },
		"servers": func(j *simulate.Job) {
			j.Strategy, j.Servers.Count, j.Servers.IsApart = "ps", 4, true
		},
		"overlap":  func(j *simulate.Job) { j.ShardOptimizer, j.OverlapForward = true, true },
		"forever":  func(j *simulate.Job) { j.Workers[0].Forward = math.Inf(1) },
		"no param": func(j *simulate.Job) { j.Model = simulate.Model{} },
	} {
		j := lab(4, 0.6, 0.4, 1e9)
		change(&j)
		if _, err := simulate.Steps(j, 1, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if _, err := simulate.Binding(j); err == nil {
			t.Errorf("no error of Binding, want %q", want)
		}
	}
	if _, err := simulate.Steps(lab(2, 1, 1, 1e9), 0, nil); err == nil {
		t.Error("no error of no steps")
	}
}

// An idle link lets a burst pass at once, which each step of a collective saves; and no more than it carries.
func TestBursts(t *testing.T) {
	j := lab(2, 0.1, 0.05, 1e9)
	j.Strategy, j.Algorithm, j.Model, j.Add = "all-reduce", "direct", parameters(1<<20), 0
	plain := first(t, j).Exposed
	j.Network.Outside.Burst = 72 << 10
	saved := plain - first(t, j).Exposed // four segments of two steps, links idle between
	if want := 72<<10*8e-9 + 7*2e-4; !near(saved, want, 0.02) {
		t.Errorf("bursts save %g ms, want %g", 1e3*saved, 1e3*want)
	}
	j.Network.Outside.Burst = 1 << 30
	if got := first(t, j).Exposed; got < 2e-4 || got > plain {
		t.Errorf("exposed %g s with endless bursts, %g without", got, plain)
	}
}

// Passes shorter than a slice take turns: three on two cores take as long as two after one another. Longer
// ones share the cores, in turns.
func TestSlices(t *testing.T) {
	j := simulate.Job{Strategy: "all-reduce", Topology: comm.OneHost(3), Model: parameters(1),
		Machines: []simulate.Machine{{Cores: 2, Slice: 3e-3}}}
	for pass, want := range map[float64]float64{1e-3: 2e-3, 0.4: 0.6} {
		j.Workers = []simulate.Passes{{Forward: pass / 2, Backward: pass / 2}}
		if got := first(t, j).Seconds; !near(got, want, 0.01) {
			t.Errorf("three passes of %g s on two cores take %g s, want %g", pass, got, want)
		}
	}
}

// Messages that share a link unevenly end one after another: a server's next update then begins while others
// still receive, so that both directions are busy, and where all exchange with all an end waits for the last.
func TestUnevenness(t *testing.T) {
	for algorithm, isShorter := range map[string]bool{"gather": true, "direct": false} {
		j := lab(4, 0, 0, 1e9)
		j.Strategy, j.Algorithm, j.Model, j.Add = "all-reduce", algorithm, parameters(16<<18), 0
		even := first(t, j).Exposed
		j.Network.Unevenness = 1
		if got := first(t, j).Exposed; got != even {
			t.Errorf("%s: %g s with an unevenness of 1, %g with 0", algorithm, got, even)
		}
		j.Network.Unevenness = simulate.Unevenness
		ratio := first(t, j).Exposed / even
		if ratio < 1 != isShorter || math.Abs(math.Log(ratio)) < 0.02 || math.Abs(math.Log(ratio)) > 0.2 {
			t.Errorf("%s: uneven shares take %.3f times as long", algorithm, ratio)
		}
	}
}
