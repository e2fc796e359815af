package host

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// tasksOf returns what the threads of a process did, of those that there are now: the first two numbers of
// each schedstat, in nanoseconds, and whether the state of one is R.
func tasksOf(pid int) (all threads) {
	tasks := fmt.Sprintf("/proc/%d/task/", pid)
	list, _ := os.ReadDir(tasks) // without proc, or of a process that has ended, none
	for _, task := range list {
		text, err := os.ReadFile(tasks + task.Name() + "/schedstat")
		if err != nil { // it has ended
			continue
		}
		ran, _, _ := bytes.Cut(text, []byte(" "))
		nanoseconds, _ := strconv.ParseInt(string(ran), 10, 64) // 0 of what nobody writes
		all.waited += waitedOf(text)
		all.ran += time.Duration(nanoseconds)
		stat, _ := os.ReadFile(tasks + task.Name() + "/stat") // of one that has ended: not ready
		all.isReady = all.isReady || bytes.Contains(stat, []byte(") R "))
	}
	return all
}
