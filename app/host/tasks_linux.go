package host

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// TaskRoom returns how many more threads this process may start, and the limit that allows no more, in words.
// Without a limit, or where it is not known, it returns math.MaxInt. What others start meanwhile is not
// foreseen.
func TaskRoom() (room int, limit string) { return taskRoom("/", os.Getuid()) }

// taskRoom is TaskRoom for a user with the proc and sys folders below root.
func taskRoom(root string, uid int) (room int, limit string) {
	room, limit = groupRoom(root)
	most := limitOf(read(root, "proc/self/limits"), "Max processes")
	if uid == 0 || most < 0 { // root has no limit of its own
		return room, limit
	}
	if all := numTasks(root); most-all > plenty {
		return min(room, most-all), limit // however many of them are the user's
	}
	if own := userTasks(root, uid); most-own < room {
		room, limit = most-own, fmt.Sprintf("%d for this user (ulimit -u), of which %d are in use", most, own)
	}
	return room, limit
}

// plenty is room for more threads than a run starts, so that nobody has to count those of one user.
const plenty = 4096

// groupRoom is the room in this process's control group and in those above it.
func groupRoom(root string) (room int, limit string) {
	room = math.MaxInt
	for _, folder := range groupFolders(root, "pids") {
		most, isLimit := number(read(folder, "pids.max"))
		used, isKnown := number(read(folder, "pids.current"))
		if isLimit && isKnown && most-used < room {
			room = most - used
			limit = fmt.Sprintf("%d for a control group (pids.max), of which %d are in use", most, used)
		}
	}
	return room, limit
}

// groupFolders returns the folders of this process's control groups and of those above them: the unified
// ones, and those of a controller.
func groupFolders(root, controller string) (folders []string) {
	for line := range strings.Lines(read(root, "proc/self/cgroup")) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 || part[1] != "" && part[1] != controller {
			continue
		}
		for group := part[2]; ; group = filepath.Dir(group) {
			folders = append(folders, filepath.Join(root, "sys/fs/cgroup", part[1], group))
			if group == "/" || group == "." {
				break
			}
		}
	}
	return folders
}

// limitOf returns the soft limit of a line of /proc/self/limits; -1: none.
func limitOf(text, name string) int {
	for line := range strings.Lines(text) {
		if rest, found := strings.CutPrefix(line, name); found {
			if fields := strings.Fields(rest); len(fields) > 0 {
				if n, ok := number(fields[0]); ok {
					return n
				}
			}
		}
	}
	return -1
}

// numTasks returns the number of threads of the whole machine; a large number if it is not known.
func numTasks(root string) int {
	for _, field := range strings.Fields(read(root, "proc/loadavg")) {
		if _, all, found := strings.Cut(field, "/"); found {
			if n, ok := number(all); ok {
				return n
			}
		}
	}
	return math.MaxInt32
}

// userTasks counts the threads of a user's processes.
func userTasks(root string, uid int) int {
	folders, _ := filepath.Glob(filepath.Join(root, "proc/[0-9]*")) // the pattern is right
	sum := 0
	for _, folder := range folders {
		info, err := os.Stat(folder)
		if err != nil {
			continue // it has ended
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != uid {
			continue
		}
		tasks, err := os.ReadDir(filepath.Join(folder, "task"))
		if err == nil {
			sum += len(tasks)
		}
	}
	return sum
}

// read returns the text of a file, "" if it cannot be read.
func read(parts ...string) string {
	text, _ := os.ReadFile(filepath.Join(parts...)) // "" is: not known
	return string(bytes.TrimSpace(text))
}

// number reads a whole number.
func number(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil
}
