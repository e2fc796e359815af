package host

import "golang.org/x/sys/unix"

// corePairs pairs the first core that this process may use with each of the others.
func corePairs() (pairs [][2]int) {
	var allowed unix.CPUSet
	if Cores() < 2 || unix.SchedGetaffinity(0, &allowed) != nil {
		return nil
	}
	first := -1
	for core, found := 0, 0; found < allowed.Count(); core++ {
		if !allowed.IsSet(core) {
			continue
		}
		if found++; first < 0 {
			first = core
			continue
		}
		pairs = append(pairs, [2]int{first, core})
	}
	return pairs
}

// moveTo keeps the calling thread on a core from now on, if the system allows it.
func moveTo(core int) {
	var one unix.CPUSet
	one.Set(core)
	unix.SchedSetaffinity(0, &one) // refused: the system places the thread
}
