package comm_test

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lockstep/comm"
	"lockstep/shard"
)

func mustCut(shards, workers int) shard.Plan {
	plan, err := shard.Cut(shards, workers)
	if err != nil {
		panic(err)
	}
	return plan
}

func mustPlan(name string, t comm.Topology, plan shard.Plan, rank, elems int) *comm.Schedule {
	s, err := comm.PlanAllReduce(name, t, plan, rank, elems)
	if err != nil {
		panic(err)
	}
	return s
}

// lengths are some that the numbers of ranks divide, and many that they do not.
var lengths = []int{0, 1, 2, 3, 5, 16, 17, 1009, 1024, 4095, 1365, 16 * 9 * 5 * 7 * 11 * 13 * 17}

// Every rank's cost matches the formula for every length, and all that is sent is received.
func TestScheduleCostsAreTheFormulas(t *testing.T) {
	for p := 1; p <= 17; p++ {
		for _, name := range comm.Algorithms() {
			for _, elems := range lengths {
				checkCosts(t, name, comm.OneHost(p), elems)
			}
		}
	}
	for _, hosts := range []string{"aabb", "aaaabbbb", "aabbccdd", "aabbc", "abcd", "a", "aaab", "aaabbb",
		"abab", "aaaabbc", "abbbbb"} {
		for _, elems := range lengths {
			checkCosts(t, "hierarchical", comm.NewTopology(strings.Split(hosts, "")), elems)
		}
	}
}

func checkCosts(t *testing.T, name string, hosts comm.Topology, elems int) {
	t.Helper()
	p := hosts.Size()
	var total comm.Cost
	for r := range p {
		got := mustPlan(name, hosts, mustCut(p, p), r, elems).Cost()
		want := comm.Theory(name, hosts, r, elems)
		if got.Sent != want.Sent || got.Received != want.Received ||
			elems >= 1009 && got.Steps != want.Steps {
			t.Errorf("%s of %d elements, rank %d of %d on %d hosts: %+v, want %+v", name, elems, r, p,
				hosts.Hosts(), got, want)
		}
		total.Sent += got.Sent
		total.Received += got.Received
	}
	all := 2 * (p - 1) * elems
	if name == "one-shot" {
		all = p * (p - 1) * elems
	}
	isMore := name == "hierarchical" || name == "halving-doubling" && p&(p-1) != 0 // pieces travel apart
	if total.Sent != total.Received || total.Sent < all || total.Sent > all && !isMore {
		t.Errorf("%s of %d elements: %d ranks send %d and receive %d, want %d", name, elems, p, total.Sent,
			total.Received, all)
	}
}

// The cost of the busiest rank matches the table of the package.
func TestCostTable(t *testing.T) {
	const n = 1 << 12
	for _, test := range []struct {
		name              string
		ranks, steps, max int
	}{
		{"direct", 4, 2, 2 * n * 3 / 4}, {"direct", 3, 2, 5462}, {"ring", 3, 4, 5462}, // of 5461 1/3
		{"gather", 4, 2, 3 * n}, {"one-shot", 4, 1, 3 * n}, {"ring", 4, 6, 2 * n * 3 / 4},
		{"tree", 8, 6, 3 * n}, {"tree", 5, 6, 3 * n}, {"halving-doubling", 8, 6, 2 * n * 7 / 8},
		{"halving-doubling", 6, 6, 2*n*3/4 + n}, {"hierarchical", 4, 2, 2 * n * 3 / 4},
	} {
		c := comm.Busiest(test.ranks, func(rank int) comm.Cost {
			return comm.Theory(test.name, comm.OneHost(test.ranks), rank, n)
		})
		if c.Steps != test.steps || c.Sent != test.max {
			t.Errorf("%s of %d ranks: %+v, want %d steps and %d", test.name, test.ranks, c, test.steps,
				test.max)
		}
	}
}

// The traffic that leaves each host is the lower bound, 2n(H-1)/H, if the ranks of every host form
// one subtree.
func TestHierarchicalLeavesHostsSeldom(t *testing.T) {
	const elems = 1 << 4 * 9 * 25 * 7
	for _, test := range []struct {
		hosts     string
		isSubtree bool
	}{
		{"aabb", true}, {"aaaabbbb", true}, {"aabbccdd", true}, {"aabbc", true}, {"abcd", true}, {"a", true},
		{"aaab", false}, {"aaabbb", false}, {"abab", false}, {"aaaabbc", true}, {"abbbbb", false},
	} {
		hosts := comm.NewTopology(strings.Split(test.hosts, ""))
		left := map[byte]int{}
		for r := range hosts.Size() {
			s := mustPlan("hierarchical", hosts, mustCut(hosts.Size(), hosts.Size()), r, elems)
			for _, st := range s.Steps {
				for _, send := range st.Sends {
					if test.hosts[send.Peer] != test.hosts[r] {
						left[test.hosts[r]] += send.Len()
					}
				}
			}
		}
		most := 2 * elems * (hosts.Hosts() - 1) / hosts.Hosts()
		for host, sent := range left {
			if sent < most || test.isSubtree && sent > most {
				t.Errorf("%s: %d elements leave host %c, want %d", test.hosts, sent, host, most)
			}
		}
	}
}

// In a symbolic run of all ranks' schedules, every transfer sent is the one expected, and every
// element ends as the sum of all shards on every rank, along the tree for the exact algorithms.
func TestSchedulesFitTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		workers := rapid.IntRange(1, 12).Draw(t, "workers")
		shards := rapid.IntRange(workers, 20).Draw(t, "shards")
		elems := rapid.IntRange(0, 40).Draw(t, "elems")
		name := rapid.SampledFrom(comm.Algorithms()).Draw(t, "algorithm")
		host := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		hosts := comm.NewTopology(rapid.SliceOfN(host, workers, workers).Draw(t, "hosts"))
		plan := mustCut(shards, workers)
		sim := newSimulation(name, hosts, plan, elems)
		if err := sim.run(); err != nil {
			t.Fatal(err)
		}
		for r := range workers {
			for i, got := range sim.buffers[r][0] {
				if want := tree(0, shards); comm.IsExact(name) && got != want {
					t.Fatalf("rank %d element %d: %s, want %s", r, i, got, want)
				}
				if got != sim.buffers[0][0][i] {
					t.Fatalf("rank %d element %d: %s, rank 0 has %s", r, i, got, sim.buffers[0][0][i])
				}
				if n := leaves(got); n != shards {
					t.Fatalf("rank %d element %d: %s has %d shards, want %d", r, i, got, n, shards)
				}
			}
		}
	})
}

// tree writes the sum over shards [lo, hi); the terms of each addition are in order.
func tree(lo, hi int) string {
	if hi-lo == 1 {
		return fmt.Sprint(lo)
	}
	half := 1 << (bits.Len(uint(hi-lo-1)) - 1)
	return "(" + tree(lo, lo+half) + "+" + tree(lo+half, hi) + ")"
}

func leaves(sum string) int {
	n := 1
	for _, c := range sum {
		if c == '+' {
			n++
		}
	}
	return n
}

// simulation executes schedules on strings, one per element.
type simulation struct {
	schedules []*comm.Schedule
	buffers   [][][]string               // [rank][buffer][element]
	wires     map[[2]int][]comm.Transfer // sent, not received yet
	values    map[[2]int][][]string
	step      []int
	isSent    []bool // the sends of the current step
}

func newSimulation(name string, t comm.Topology, plan shard.Plan, elems int) *simulation {
	s := &simulation{wires: map[[2]int][]comm.Transfer{}, values: map[[2]int][][]string{},
		step: make([]int, plan.Workers()), isSent: make([]bool, plan.Workers())}
	for r := range plan.Workers() {
		sched := mustPlan(name, t, plan, r, elems)
		s.schedules = append(s.schedules, sched)
		var buffers [][]string
		for _, n := range plan.Pieces(r) {
			b := make([]string, elems)
			for i := range b {
				b[i] = tree(n.Lo, n.Hi)
			}
			buffers = append(buffers, b)
		}
		for range sched.Scratch {
			buffers = append(buffers, make([]string, elems))
		}
		s.buffers = append(s.buffers, buffers)
	}
	return s
}

// run lets every rank proceed as far as it can until all are done or none can.
func (s *simulation) run() error {
	for {
		isMoving, isDone := false, true
		for r, sched := range s.schedules {
			if s.step[r] == len(sched.Steps) {
				continue
			}
			isDone = false
			moved, err := s.advance(r, &sched.Steps[s.step[r]])
			if err != nil {
				return err
			}
			isMoving = isMoving || moved
		}
		if isDone {
			for link, left := range s.wires {
				if len(left) > 0 {
					return fmt.Errorf("%d transfers %v were never received", len(left), link)
				}
			}
			return nil
		}
		if !isMoving {
			return fmt.Errorf("deadlock at steps %v", s.step)
		}
	}
}

func (s *simulation) advance(r int, st *comm.Step) (moved bool, err error) {
	if !s.isSent[r] {
		for _, t := range st.Sends {
			link := [2]int{r, t.Peer}
			s.wires[link] = append(s.wires[link], t)
			s.values[link] = append(s.values[link],
				append([]string(nil), s.buffers[r][t.Buffer][t.Lo:t.Hi]...))
		}
		s.isSent[r] = true
		return true, nil
	}
	count := map[int]int{}
	for _, t := range st.Receives {
		count[t.Peer]++
	}
	for peer, n := range count {
		if len(s.wires[[2]int{peer, r}]) < n {
			return false, nil
		}
	}
	for _, t := range st.Receives {
		link := [2]int{t.Peer, r}
		if sent := s.wires[link][0]; sent.Span != t.Span {
			return false, fmt.Errorf("rank %d sends %v to %d, which expects %v", t.Peer, sent.Span, r,
				t.Span)
		}
		copy(s.buffers[r][t.Buffer][t.Lo:t.Hi], s.values[link][0])
		s.wires[link], s.values[link] = s.wires[link][1:], s.values[link][1:]
	}
	for _, sum := range st.Sums {
		for i := sum.Lo; i < sum.Hi; i++ {
			s.buffers[r][sum.Into][i] = plus(s.buffers[r][sum.Into][i], s.buffers[r][sum.From][i])
		}
	}
	s.step[r]++
	s.isSent[r] = false
	return true, nil
}

// plus writes a sum with the term of the lower shards first, as addition commutes.
func plus(a, b string) string {
	if first(b) < first(a) {
		a, b = b, a
	}
	return "(" + a + "+" + b + ")"
}

func first(sum string) (n int) {
	for _, c := range sum {
		if c >= '0' && c <= '9' {
			n = 10*n + int(c-'0')
		} else if c == '+' {
			break
		}
	}
	return n
}

func TestPartsCoverTheVector(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, parts := rapid.IntRange(0, 1000).Draw(t, "n"), rapid.IntRange(1, 20).Draw(t, "parts")
		at := 0
		for i := range parts {
			p := comm.Part(n, parts, i)
			if p.Lo != at || p.Len() < n/parts || p.Len() > n/parts+1 {
				t.Fatalf("part %d of %d in %d: %v", i, n, parts, p)
			}
			at = p.Hi
		}
		if at != n {
			t.Fatalf("%d of %d elements covered", at, n)
		}
	})
}

func TestAlgorithmNames(t *testing.T) {
	if err := comm.CheckAlgorithm("rign"); err == nil ||
		err.Error() != `comm: algorithm "rign", want auto, direct, gather, halving-doubling, `+
			`hierarchical, one-shot, ring, tree` {
		t.Errorf("got %v", err)
	}
	for p := 1; p <= 64; p++ {
		if name := comm.Resolve("auto", comm.OneHost(p), 1<<20); !comm.IsExact(name) {
			t.Errorf("auto is %q for %d ranks, which is not exact", name, p)
		}
	}
}
