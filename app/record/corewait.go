package record

// CoreWaits returns for how long in each step a rank that computes with so many threads stood still because a
// thread that was ready to run had no core: in forward and backward passes, and in the exchange. Threads that
// compute run all the time, so that the first is
//
//	forward + backward - gradient_cpu/threads
//
// as far as the delays in all steps go, which are those of all threads of the process. The second are the
// delays in the exchange, but for the time in which it ran. Nothing tells both apart in files without
// gradient_cpu_seconds: there they wait for the same share.
func (s *Steps) CoreWaits(threads int) (computing, exchange Numbers) {
	n, delayed, late := float64(max(1, threads)), 0.0, 0.0
	computing, exchange = make(Numbers, len(s.Delayed)), make(Numbers, len(s.Delayed))
	alike := s.starved(n)
	for i, v := range s.Delayed {
		at := func(phase string) float64 { return entry(s.Phases[phase], i) }
		delayed, late = delayed+v, late+entry(s.ExchangeDelayed, i)
		if computing[i] = at("forward") + at("backward"); len(s.GradientCPU) == 0 {
			computing[i], exchange[i] = alike[i]*computing[i], alike[i]*at("sync_exposed")
			continue
		}
		before := entry(s.GradientCPU, i)
		computing[i] = max(0, computing[i]-before/n)
		after := max(0, entry(s.CPU, i)-before-n*at("optimizer"))
		exchange[i] = max(0, at("sync_exposed")-after)
	}
	if len(s.GradientCPU) > 0 {
		computing.limit(max(0, delayed-late) / n)
		exchange.limit(late)
	}
	return computing, exchange
}

// starved returns the share of each step for which a thread had no core. Threads of the runtime wait too,
// which costs nothing: no more counts than processor time leaves of that of all n threads.
func (s *Steps) starved(n float64) Numbers {
	usage, cpu, delayed, part := 0.0, 0.0, 0.0, 1.0
	for i, v := range s.Delayed {
		usage, cpu, delayed = usage+entry(s.Usage, i), cpu+entry(s.CPU, i), delayed+v
	}
	if usage > 0 {
		part = min(1, max(0, usage*n-cpu)/max(delayed, 1e-12))
	}
	out := make(Numbers, len(s.Delayed))
	for i, v := range s.Delayed {
		if seconds := entry(s.Seconds, i); seconds > 0 {
			out[i] = min(1, part*v/(n*seconds))
		}
	}
	return out
}

// limit scales v so that its sum is at most so much.
func (v Numbers) limit(most float64) {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	for i := range v {
		v[i] *= min(1, most/max(sum, 1e-12))
	}
}

// entry returns v[i]; 0 past the end.
func entry(v Numbers, i int) float64 {
	if i >= len(v) {
		return 0
	}
	return v[i]
}
