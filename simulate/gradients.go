package simulate

import "lockstep/gradsync"

// trialSteps is how many steps of "ddp" with OverlapForward show how many buckets backward hides.
const trialSteps = 3

// exchange trains by gradsync's strategies: buckets are exchanged when they are final, or after the passes.
func (w *worker) exchange() {
	isEager := w.Strategy == gradsync.DDP
	isStarted := isEager && len(w.buckets) > 1
	for step := range w.course.steps {
		w.begin(step)
		var need func(bucket int)
		if step > 0 && w.OverlapForward {
			w.takeLate(0) // begins the optimizer's step
			need = w.takeLate
		} else if step > 0 && w.ShardOptimizer {
			need = func(bucket int) { w.wait(w.gathers[bucket]) }
		}
		w.pass(need, func() {
			if step == trialSteps && w.OverlapForward {
				w.course.order = gradsync.LateOrder(len(w.buckets), w.hidden)
			}
			if isStarted || w.OverlapForward {
				w.rows = w.call(rowGather, w.rowElems)
			}
		}, func(bucket int) {
			w.isFinal[bucket] = true
			switch {
			case w.OverlapForward:
				w.startFirst(len(w.buckets))
			case isEager:
				w.startFirst(len(w.buckets) - 1)
			}
		})
		if w.OverlapForward {
			w.endLate()
			continue
		}
		if !isStarted {
			w.rows = w.call(rowGather, w.rowElems)
		}
		w.startFirst(len(w.buckets))
		w.wait(w.rows)
		for _, c := range w.calls {
			w.wait(c)
		}
		w.updateOwn()
		w.finish()
	}
}

// startFirst starts the final ones among the first num buckets, in order.
func (w *worker) startFirst(num int) {
	for ; w.started < num && w.isFinal[w.order[w.started]]; w.started++ {
		i, op := w.order[w.started], allReduce
		if w.ShardOptimizer {
			op = reduceScatter
		}
		w.calls[i] = w.call(op, w.buckets[i].Hi-w.buckets[i].Lo)
	}
}

// updateOwn updates all weights, or this worker's share, which the others then gather.
func (w *worker) updateOwn() {
	if !w.ShardOptimizer {
		w.update(1)
		return
	}
	w.update(1 / float64(w.Plan.Workers()))
	for i := len(w.buckets) - 1; i >= 0; i-- {
		w.gathers[i] = w.call(allGather, w.buckets[i].Hi-w.buckets[i].Lo)
	}
}

// takeLate waits for a bucket and updates its weights, unless that was done in this step.
func (w *worker) takeLate(bucket int) {
	if w.isTaken[bucket] {
		return
	}
	w.isTaken[bucket] = true
	w.wait(w.calls[bucket])
	w.update(float64(w.buckets[bucket].Hi-w.buckets[bucket].Lo) / float64(w.elems))
}

// endLate ends a step whose sums may still be under way.
func (w *worker) endLate() {
	if w.rank == 0 {
		w.hidden = 0
		for _, c := range w.calls {
			if c != nil && c.isBegun {
				w.hidden++
			}
		}
	}
	clear(w.isTaken)
	w.wait(w.rows)
	w.finish()
}

// alone trains without an exchange.
func (w *worker) alone() {
	for step := range w.course.steps {
		w.begin(step)
		w.pass(nil, func() {}, func(int) {})
		w.update(1)
		w.finish()
	}
}

// average trains by rounds: each worker updates its own weights, and the parts are averaged in turns.
func (w *worker) average() {
	a := w.Averages
	sums, due := make([]*call, a.Parts), make([]int, a.Parts)
	part := float64(w.elems) / float64(a.Parts)
	outer := func(passes float64) { // over the weights of a part
		if seconds := passes * 4 * part * w.Add; seconds > 0 {
			w.compute(w.machine, seconds, w.passes.Threads, true, w.resume)
			w.spent.updating += w.park()
		}
	}
	for step := range w.course.steps {
		w.begin(step)
		w.pass(nil, func() {}, func(int) {})
		w.update(1)
		for i := range sums {
			if (step+1)%a.Every == ((i+1)*a.Every+a.Parts-1)/a.Parts%a.Every {
				outer(2)
				sums[i] = w.call(allReduce, int(part))
				due[i] = step + a.Overlap
			}
			if sums[i] != nil && due[i] == step {
				w.wait(sums[i])
				outer(2)
				sums[i] = nil
			}
		}
		w.finish()
	}
}
