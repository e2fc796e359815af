package cluster

import "slices"

// assign divides the available processors among ranks, threads[rank] to each. It returns nil if they
// do not use exactly all of them.
//
// Note: own processors. The kernel tends to move two ranks that wake each other through a socket to
// one processor, and takes milliseconds to separate them again. So if the workers use the whole
// machine, each is bound to its own processors: `lenet`, 16 images per worker, two workers on two
// cores, three interleaved runs of 1,000 steps: 1.12 ms a step instead of 1.80 (medians). If
// processors are left over nothing is bound, because another job may be there.
func assign(available []int, threads []int) [][]int {
	if len(threads) < 2 || slices.Min(threads) < 1 {
		return nil
	}
	shares := make([][]int, len(threads))
	for rank, n := range threads {
		if n > len(available) {
			return nil
		}
		shares[rank], available = available[:n], available[n:]
	}
	if len(available) > 0 {
		return nil
	}
	return shares
}
