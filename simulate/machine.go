package simulate

// machine shares its cores among the tasks that compute and the threads that exchange.
type machine struct {
	Machine
	tasks   []*task
	threads []*thread // of all its ranks
	isDirty bool
}

// task is a computation.
type task struct {
	activity
	cores  float64 // that it can keep busy
	isPass bool    // it slows others down by the memory that it uses
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
		for i, other := range m.tasks {
			if other == t {
				m.tasks = append(m.tasks[:i], m.tasks[i+1:]...)
				break
			}
		}
		w.soil(m)
		done()
	})
	m.tasks = append(m.tasks, t)
	w.soil(m)
}

// divide gives the tasks and threads of a machine their shares of its cores.
//
// Every thread of a task wants a core. A thread that exchanges wants what moving bytes takes at the rate of
// its links, and gets it if that is less than an equal share, as an operating system's scheduler does.
func (w *world) divide(m *machine) {
	passes, threads := 0, 0.0
	for _, t := range m.tasks {
		threads += t.cores
		if t.isPass {
			passes++
		}
	}
	share := m.shareOf(threads)
	for _, t := range m.tasks {
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
