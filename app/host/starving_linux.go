package host

import (
	"fmt"
	"os"
	"time"
)

// tasksWaited returns for how long threads of a process were ready to run and had no core, summed over the
// threads that there are now: the second number of each schedstat, in nanoseconds.
func tasksWaited(pid int) time.Duration {
	tasks := fmt.Sprintf("/proc/%d/task/", pid)
	list, _ := os.ReadDir(tasks) // without proc, or of a process that has ended, none
	sum := time.Duration(0)
	for _, task := range list {
		text, err := os.ReadFile(tasks + task.Name() + "/schedstat")
		if err == nil { // else it has ended
			sum += waitedOf(text)
		}
	}
	return sum
}
