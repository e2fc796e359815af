//go:build unix

package cluster

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A launcher that is stopped for a while reads nothing. Reports do not wait for it, and an event is neither
// lost nor held up by them.
func TestReportsDoNotWaitForAStoppedLauncher(t *testing.T) {
	events := make(chan event)
	c := newCoordinator(1, nil, events)
	defer c.close()
	own, theirs, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	c.adopt(own)
	fd, err := unix.Dup(int(theirs.Fd())) // which Join closes
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		e := <-events
		e.line.send(message{Welcome: &Welcome{}})
	}()
	s, err := Join(context.Background(), Member{World: 1, Control: fd}, Hello{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for step := range 10000 { // each returns, though nobody reads
		if err := s.Report(Progress{Step: step}); err != nil {
			t.Fatal(err)
		}
	}
	s.Tell("event")
	reports := 0
	for e := range events {
		if e.message.Event != nil {
			var text string
			if err := json.Unmarshal(e.message.Event, &text); err != nil || text != "event" {
				t.Errorf("event %s, %v", e.message.Event, err)
			}
			break
		}
		reports++
	}
	if reports != maxUnheard {
		t.Errorf("%d reports, want %d", reports, maxUnheard)
	}
	for deadline := time.Now().Add(30 * time.Second); s.unheard.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d reports count as unread", s.unheard.Load())
		}
	}
	if err := s.Report(Progress{Step: 7}); err != nil {
		t.Fatal(err)
	}
	if e := <-events; e.message.Progress == nil || e.message.Progress.Step != 7 {
		t.Errorf("%+v, want the report of step 7", e.message)
	}
}
