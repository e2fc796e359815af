package command

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// cutOff cuts a host off from all others and from the console: in both directions, or only what it sends
// ("outward") or is sent ("inward").
func (s *sshHosts) cutOff(t *testing.T, host int, way string) {
	t.Helper()
	const nobody = "02:00:00:00:00:99"
	lose := func(space int, address, device string) {
		s.in(t, space, "ip", "neigh", "replace", address, "lladdr", nobody, "dev", device, "nud", "permanent")
	}
	for space := range s.spaces {
		there, device := address(space), "eth0"
		if space == 0 {
			there, device = "10.88.0.254", "switch"
		}
		switch {
		case space == host:
		case way == "outward":
			lose(host, there, "eth0")
		case way == "inward":
			lose(space, address(host), device)
		}
	}
	if way == "" {
		s.in(t, 0, "ip", "link", "set", fmt.Sprintf("port%d", host), "down")
	}
}

// A job of which a host is cut off, in one direction or both, goes on without it after one restart, and ends
// with the parameters of a job that was not disturbed.
func TestLaunchGoesOnWithoutACutHost(t *testing.T) {
	t.Parallel()
	arguments := strings.Fields("train --model lenet --data glyphs --limit-train 256 --limit-test 32 " +
		"--batch 32 --shards 6 --threads 1 --checkpoint-every 10 --augment none --eval-every 100 --quiet " +
		"--json --steps 600")
	startHosts(t, 1) // or none can be made
	status, text, stderr := execute(append(arguments, "--out", filepath.Join(t.TempDir(), "one"))...)
	if status != 0 {
		t.Fatal(stderr)
	}
	undisturbed := hashIn(text)
	for _, way := range []string{"", "outward", "inward"} {
		if way != "" && *faultRounds == 0 {
			continue // it takes as long
		}
		for round := range max(1, *faultRounds) {
			t.Run(fmt.Sprintf("%s %d", strings.TrimSpace("cut "+way), round), func(t *testing.T) {
				cutRound(t, way, *faultSeed+uint64(round), arguments, undisturbed)
			})
		}
	}
}

// cutRound cuts off one of the hosts on which the command does not run.
func cutRound(t *testing.T, way string, seed uint64, arguments []string, undisturbed string) {
	t.Helper()
	s := startHosts(t, 3)
	random := rand.New(rand.NewPCG(seed, uint64(len(way))))
	rank := 1 + random.IntN(2)
	l := s.launch(t, append(strings.Fields("--hosts h1,h2,h3 --max-restarts 1 --min-hosts 2 --"),
		arguments...)...)
	checkpoints := filepath.Join(s.home(1), "lockstep", "jobs", "*", "runs", "*", "checkpoints", "step-*")
	waitFor(t, "a checkpoint", func() bool {
		found, _ := filepath.Glob(checkpoints)
		return len(found) > 0
	})
	time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond) // a random step
	struck := time.Now()
	s.cutOff(t, rank+1, way)
	l.ends(t, 0)
	result := faultResult{Fault: strings.TrimSpace("cut " + way), By: byHosts, Seed: seed, Rank: rank,
		End: time.Since(struck).Milliseconds(), Resume: hashIn(l.stdout.String())}
	if result.Resume != undisturbed {
		t.Errorf("hash %s, want %s", result.Resume, undisturbed)
	}
	for _, want := range []string{"restart 1 of 1 from the newest checkpoint in ",
		fmt.Sprintf("lost host h%d; ", rank+1), fmt.Sprintf(`"cause": "lost host h%d"`, rank+1),
		`"workers": 2,`} {
		if !strings.Contains(l.stderr.String()+l.stdout.String(), want) {
			t.Errorf("%s%s, without %q", l.stderr.String(), l.stdout.String(), want)
		}
	}
	t.Log(l.stderr.String())
	s.isDeserted(t)
	result.keep(t)
}
