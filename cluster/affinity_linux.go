package cluster

import "golang.org/x/sys/unix"

// processors lists the processors that the calling thread may use, or nil if that is unknown.
func processors() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var list []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list
}

// useProcessors binds the calling thread, and the processes that it starts from now on, to the
// listed processors. If the system refuses they are not bound, which affects speed only.
func useProcessors(list []int) {
	var set unix.CPUSet
	for _, cpu := range list {
		set.Set(cpu)
	}
	unix.SchedSetaffinity(0, &set)
}
