package cluster

import (
	"bufio"
	"os"
	"strings"
)

// mainFunction returns the function of this program in which the main goroutine was when a process of
// Go wrote the stacks of all to its log, and what that had called: "lockstep/app/rundir.(*StepLog).flush
// (syscall.write)". It returns "" if the log has none, or the goroutine was running.
func mainFunction(log string) string {
	f, err := os.Open(log)
	if err != nil {
		return ""
	}
	defer f.Close()
	top, isMain, found := "", false, ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "goroutine "):
			isMain, top = strings.HasPrefix(line, "goroutine 1 "), ""
		case !isMain || line == "" || strings.HasPrefix(line, "\t"):
			// Another goroutine, an end, or the place of a function.
		default:
			name := line[:max(0, strings.LastIndexByte(line, '('))]
			if top == "" && !strings.HasPrefix(name, "runtime.") {
				top = name
			}
			if strings.HasPrefix(name, "lockstep/") {
				isMain, found = false, name
				if top != name {
					found += " (" + top + ")"
				}
			}
		}
	}
	return found
}
