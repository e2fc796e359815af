package cluster

// Assign is assign, for the tests.
func Assign(available []int, world, threads int) [][]int { return assign(available, world, threads) }
