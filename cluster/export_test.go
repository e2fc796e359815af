package cluster

// Assign is assign, for the tests.
func Assign(available []int, world, threads int) [][]int { return assign(available, world, threads) }

// LabHostOf is labHost, for the tests.
func LabHostOf(rank, world, hosts int) int { return labHost(rank, world, hosts) }
