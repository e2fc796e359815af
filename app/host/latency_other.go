//go:build !linux

package host

// corePairs is the one pair on which the system places two threads.
func corePairs() [][2]int {
	if Cores() < 2 {
		return nil
	}
	return make([][2]int, 1)
}

// moveTo does nothing: the system places threads.
func moveTo(int) {}
