package simulate

import "slices"

// machine shares its cores among the tasks that compute and the threads that exchange.
type machine struct {
	Machine
	tasks   []*task
	threads []*thread // of all its ranks
	isDirty bool
	turn    int  // place in tasks of the one that has just ended, which the next of its thread takes
	isTimed bool // the slice of those that run will end
}

// task is a computation.
type task struct {
	activity
	cores  float64 // that it can keep busy
	isPass bool    // it slows others down by the memory that it uses
}

// crowd returns the number of ranks by core, at least 1: so many times longer a message waits at an end.
func (m *machine) crowd() float64 {
	if m.Cores == 0 {
		return 1
	}
	return max(1, float64(len(m.threads))/m.Cores)
}

// soil says that what the cores of a machine do has changed.
func (w *world) soil(m *machine) {
	if !m.isDirty {
		m.isDirty = true
		w.dirtyMachines = append(w.dirtyMachines, m)
	}
}

// compute runs a task of so many seconds alone on as many cores.
func (w *world) compute(m *machine, seconds, cores float64, isPass bool, done func()) {
	if seconds <= 0 {
		done()
		return
	}
	t := &task{cores: cores, isPass: isPass}
	w.add(&t.activity, seconds, func() {
		m.turn = slices.Index(m.tasks, t)
		m.tasks = slices.Delete(m.tasks, m.turn, m.turn+1)
		w.soil(m)
		done()
		m.turn = -1
	})
	if m.turn < 0 || m.turn > len(m.tasks) {
		m.turn = len(m.tasks)
	}
	m.tasks = slices.Insert(m.tasks, m.turn, t)
	m.turn = -1
	w.soil(m)
}

// running returns the tasks that have cores: all, or the first of them until their slice ends.
func (w *world) running(m *machine) []*task {
	n, cores := 0, 0.0
	for _, t := range m.tasks {
		if cores += t.cores; m.Slice > 0 && n > 0 && cores > m.Cores && m.Cores > 0 {
			break
		}
		n++
	}
	if n < len(m.tasks) && !m.isTimed {
		m.isTimed = true
		w.after(m.Slice, func() {
			m.isTimed = false
			if now := w.running(m); len(now) < len(m.tasks) { // they go behind those that wait
				m.tasks = slices.Concat(m.tasks[len(now):], now)
				w.soil(m)
			}
		})
	}
	return m.tasks[:n]
}

// divide gives the tasks and threads of a machine their shares of its cores.
//
// Every thread of a task wants a core. A thread that exchanges wants what moving bytes takes at the rate of
// its links, and gets it if that is less than an equal share, as an operating system's scheduler does.
func (w *world) divide(m *machine) {
	passes, threads := 0, 0.0
	running := w.running(m)
	for _, t := range m.tasks[len(running):] {
		w.run(&t.activity, 0)
	}
	for _, t := range running {
		threads += t.cores
		if t.isPass {
			passes++
		}
	}
	share := m.shareOf(threads)
	for _, t := range running {
		rate := share
		if t.isPass && len(m.Crowding) > 0 {
			rate /= m.Crowding[min(passes, len(m.Crowding))-1]
		}
		w.run(&t.activity, rate)
	}
	for _, t := range m.threads {
		slow := 1.0
		if t.demand > share {
			slow = share / t.demand
		}
		if slow != t.slow {
			t.slow = slow
			for _, f := range t.flows {
				w.touch(f)
			}
		}
	}
}

// shareOf returns the part of a core that each of so many threads gets beside those that exchange.
func (m *machine) shareOf(threads float64) float64 {
	total := threads
	for _, t := range m.threads {
		t.demand = 0
		for _, f := range t.flows {
			t.demand += f.share * f.cpu
		}
		total += min(1, t.demand)
	}
	if m.Cores <= 0 || total <= m.Cores {
		return 1
	}
	share := m.Cores / total
	for {
		left, hungry := m.Cores, threads
		for _, t := range m.threads {
			if t.demand <= share {
				left -= t.demand
			} else {
				hungry++
			}
		}
		next := min(1, left/max(hungry, 1))
		if next <= share {
			return share
		}
		share = next
	}
}
