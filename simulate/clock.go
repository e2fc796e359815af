package simulate

import (
	"container/heap"
	"math"

	"lockstep/comm"
)

// world is what is simulated: the machines and links of a job, and its virtual clock.
type world struct {
	*Job
	draw     Draw
	now      float64
	events   events
	created  int
	awake    []func() // to be called now
	machines []*machine
	threads  []*thread     // that exchange, by rank
	inside   []duplex      // links of ranks within their hosts, by rank
	outside  []duplex      // links of hosts, by rank; ranks of a host have one
	uplinks  []duplex      // of switches, by rank; nil: there is one switch
	hosts    []int         // by rank: the lowest rank of its host
	hostsOf  comm.Topology // of the workers
	carried  []float64     // bytes in and out, by rank

	dirtyPorts    []*port
	dirtyMachines []*machine
	dirtyFlows    []*flow
}

// activity is work that progresses at a rate which may change, until its end.
type activity struct {
	left, rate, since float64
	end               float64
	number            int // breaks ties
	at                int // in world.events; -1: it is not there
	done              func()
}

// events is a heap of activities by end.
type events []*activity

func (e events) Len() int { return len(e) }
func (e events) Less(i, k int) bool {
	return e[i].end < e[k].end || e[i].end == e[k].end && e[i].number < e[k].number
}
func (e events) Swap(i, k int) {
	e[i], e[k] = e[k], e[i]
	e[i].at, e[k].at = i, k
}
func (e *events) Push(x any) {
	a := x.(*activity)
	a.at = len(*e)
	*e = append(*e, a)
}
func (e *events) Pop() any {
	old := *e
	a := old[len(old)-1]
	a.at = -1
	*e = old[:len(old)-1]
	return a
}

// add makes an activity of so many seconds at rate 1; it does not progress before it has a rate.
func (w *world) add(a *activity, seconds float64, done func()) {
	w.created++
	*a = activity{left: seconds, since: w.now, end: math.Inf(1), number: w.created, done: done}
	heap.Push(&w.events, a)
}

// run changes the rate of an activity from now on.
func (w *world) run(a *activity, rate float64) {
	if rate == a.rate {
		return
	}
	a.left = max(0, a.left-a.rate*(w.now-a.since))
	a.since, a.rate = w.now, rate
	a.end = math.Inf(1)
	if rate > 0 {
		a.end = w.now + a.left/rate
	}
	heap.Fix(&w.events, a.at)
}

// after calls do so many seconds from now, at once if that is now.
func (w *world) after(seconds float64, do func()) {
	if seconds <= 0 {
		do()
		return
	}
	a := &activity{}
	w.add(a, seconds, do)
	w.run(a, 1)
}

// wake calls a function when all that has just happened is known.
func (w *world) wake(do func()) { w.awake = append(w.awake, do) }

// play lets time pass until nothing is left to happen.
func (w *world) play() {
	for {
		for len(w.events) > 0 && w.events[0].end <= w.now {
			heap.Pop(&w.events).(*activity).done()
		}
		for i := 0; i < len(w.awake); i++ { // which may wake others
			w.awake[i]()
		}
		w.awake = w.awake[:0]
		w.refresh()
		if len(w.events) == 0 || math.IsInf(w.events[0].end, 1) {
			return
		}
		w.now = w.events[0].end
	}
}

// refresh makes all rates those of what goes on now.
func (w *world) refresh() {
	w.shareLinks()
	for _, m := range w.dirtyMachines {
		m.isDirty = false
		w.divide(m)
	}
	for _, f := range w.dirtyFlows {
		f.isDirty = false
		if f.at < 0 { // it has ended
			continue
		}
		slow := 1.0
		for _, t := range f.threads {
			slow = min(slow, t.slow)
		}
		for _, p := range f.ports {
			p.catchUp(w.now)
			p.used += f.share*slow - f.rate
		}
		w.run(&f.activity, f.share*slow)
	}
	w.dirtyPorts, w.dirtyMachines, w.dirtyFlows = w.dirtyPorts[:0], w.dirtyMachines[:0], w.dirtyFlows[:0]
}
