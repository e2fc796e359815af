package agent

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lockstep/cluster"
)

// A folder whose agent was killed goes when an agent starts an hour later, and one that is in use stays.
func TestFoldersOfKilledAgentsAreSwept(t *testing.T) {
	jobs, now := t.TempDir(), time.Now()
	begin := func(name string, hasResults bool) *os.File {
		f, err := claim(filepath.Join(jobs, name))
		if err == nil && hasResults {
			err = keepResults(f)
		}
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(jobs, name, "data"), "x")
		return f
	}
	begin("killed", false).Close() // as the end of its process does
	begin("results", true).Close()
	defer begin("lives", false).Close()
	begin("shared", false).Close()
	defer begin("shared", false).Close() // by another agent
	left := func(names ...string) {
		t.Helper()
		for _, name := range []string{"killed", "results", "lives", "shared"} {
			want := "none"
			for _, n := range names {
				if n == name {
					want = "x"
				}
			}
			if got := read(filepath.Join(jobs, name, "data")); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
	Tidy("/usr/bin/lockstep", jobs, now)
	left("killed", "results", "lives", "shared")
	Tidy("/usr/bin/lockstep", jobs, now.Add(emptyAge+time.Minute))
	left("results", "lives", "shared")
	Tidy("/usr/bin/lockstep", jobs, now.Add(jobAge+time.Hour))
	left("lives", "shared")
}

// An agent leaves no folder behind when its console is lost, unless the command ran there.
func TestAgentsSweepTheirFolders(t *testing.T) {
	for name, isFirst := range map[string]bool{"first": true, "other": false} {
		jobs := t.TempDir()
		in, console := io.Pipe()
		answers, out := io.Pipe()
		served := make(chan error)
		agent := Agent{In: in, Out: out, Hello: Hello{Jobs: jobs}, Answer: echo,
			Environment: cluster.ProcessEnvironment(), Status: func(error) int { return 1 }}
		go func() { served <- agent.Serve(t.Context()) }()
		closer := func() { console.Close(); answers.Close() }
		c, err := open(Host{Name: name}, newLine(answers, console), closer, func() string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		err = Claim(t.Context(), c, "j")
		if err == nil && isFirst {
			err = tell(t.Context(), c, askBegin, folderAsk{Folder: "j"})
		}
		if err == nil && isFirst { // this test, which runs none of its own
			err = tell(t.Context(), c, askStart, startAsk{Arguments: []string{"-test.run=none"}})
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := Claim(t.Context(), c, "../j"); err == nil {
			t.Error("a folder outside of that of jobs was claimed")
		}
		put(t, filepath.Join(jobs, "j", "data"), "x")
		Tidy("/usr/bin/lockstep", jobs, time.Now().Add(2*jobAge)) // of another agent
		if read(filepath.Join(jobs, "j", "data")) != "x" {
			t.Errorf("%s: another agent has removed the folder", name)
		}
		c.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if isLeft := read(filepath.Join(jobs, "j", "data")) == "x"; isLeft != isFirst {
			t.Errorf("%s: left %v, want %v", name, isLeft, isFirst)
		}
	}
}
