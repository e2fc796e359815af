package cluster

// assign divides the available processors among world workers, threads each. It returns nil if the
// workers do not use exactly all of them.
//
// Note: own processors. The kernel tends to move two ranks that wake each other through a socket to
// one processor, and takes milliseconds to separate them again. So if the workers use the whole
// machine, each is bound to its own processors: `lenet`, 16 images per worker, two workers on two
// cores, three interleaved runs of 1,000 steps: 1.12 ms a step instead of 1.80 (medians). If
// processors are left over nothing is bound, because another job may be there.
func assign(available []int, world, threads int) [][]int {
	if world < 2 || threads < 1 || world*threads != len(available) {
		return nil
	}
	shares := make([][]int, world)
	for rank := range shares {
		shares[rank] = available[rank*threads : (rank+1)*threads]
	}
	return shares
}
