package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "none"
	}
	return string(text)
}

func TestTidy(t *testing.T) {
	cache, now := t.TempDir(), time.Now()
	bin, jobs := filepath.Join(cache, "bin"), filepath.Join(cache, "jobs")
	aged := func(path string, days int) string {
		used := now.Add(-time.Duration(days)*24*time.Hour - time.Hour)
		if err := os.Chtimes(path, used, used); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var programs []string
	for days := range 7 {
		folder := filepath.Join(bin, strings.Repeat(fmt.Sprint(days), 64))
		put(t, filepath.Join(folder, "lockstep"), "program")
		put(t, filepath.Join(folder, "new.1"), "part")
		aged(filepath.Join(folder, "new.1"), days)
		programs = append(programs, aged(folder, days))
	}
	put(t, filepath.Join(jobs, "old", "x"), "")
	put(t, filepath.Join(jobs, "new", "x"), "")
	aged(filepath.Join(jobs, "old"), 31)
	aged(filepath.Join(jobs, "new"), 2)
	Tidy(filepath.Join(programs[6], "lockstep"), jobs, now)
	var left []int
	for days, folder := range programs {
		if _, err := os.Stat(folder); err == nil {
			left = append(left, days)
		}
	}
	if got := fmt.Sprint(left); got != "[0 1 2 6]" {
		t.Errorf("programs of %s days are left, want the newest three and its own", got)
	}
	if read(filepath.Join(programs[0], "new.1")) != "part" ||
		read(filepath.Join(programs[1], "new.1")) != "none" {
		t.Error("parts: want those of the last day only")
	}
	if read(filepath.Join(jobs, "old", "x")) != "none" || read(filepath.Join(jobs, "new", "x")) != "" {
		t.Error("jobs: want those of the last month only")
	}
	Tidy("/usr/bin/lockstep", jobs, now) // which was not copied anywhere
}
