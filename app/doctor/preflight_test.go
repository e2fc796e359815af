package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/app/doctor"
	"lockstep/app/record"
)

// direct asks a host in this process. answer may change what it says.
type direct struct {
	*doctor.Host
	answer func(name string, body, answer json.RawMessage) (json.RawMessage, error)
}

func (d direct) Ask(ctx context.Context, name string, body json.RawMessage) (json.RawMessage, error) {
	text, err := d.Answer(ctx, name, body)
	if err == nil && d.answer != nil {
		return d.answer(name, body, text)
	}
	return text, err
}

// facts describes a sound host with addresses on devices of their own.
func facts(addresses ...string) record.HostFacts {
	f := record.HostFacts{Host: record.Host{OS: "linux", Arch: "amd64", ISA: []string{"plain", "avx2"},
		LogicalCores: 8, UsableCores: 8}, Version: "v1", Affinity: 8,
		FreeMemoryBytes: 16 << 30,
		Disks:           []record.Disk{{Use: "cache", Path: "c", FreeBytes: 1 << 40, TotalBytes: 1 << 41}}}
	for i, a := range addresses {
		f.Interfaces = append(f.Interfaces, record.Interface{Name: fmt.Sprintf("eth%d", i), Kind: "physical",
			Addresses: []string{a}})
	}
	return f
}

// members returns hosts a, b, c, ... with two slots each.
func members(t *testing.T, all ...record.HostFacts) []doctor.Member {
	var list []doctor.Member
	for i, f := range all {
		h := doctor.NewTestHost(f, time.Now)
		t.Cleanup(func() { h.Close() })
		list = append(list, doctor.Member{Label: string(rune('a' + i)), Slots: 2, Asker: direct{Host: h}})
	}
	return list
}

func preflight(t *testing.T, list []doctor.Member) *record.Hosts {
	t.Helper()
	h, err := doctor.LoopbackPreflight(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	if h.Seconds > 60 {
		t.Errorf("%.1f s, want a few", h.Seconds)
	}
	return h
}

// found returns the texts of the findings of a level and topic.
func found(h *record.Hosts, level, topic string) []string {
	var texts []string
	for _, f := range h.Findings {
		if f.Level == level && f.Topic == topic {
			texts = append(texts, doctor.Line(f))
		}
	}
	return texts
}

func TestPreflightOfSoundHosts(t *testing.T) {
	h := preflight(t, members(t, facts("127.0.0.2"), facts("127.0.0.3"), facts("127.0.0.4")))
	for k, f := range h.Hosts {
		if want := fmt.Sprintf("127.0.0.%d", k+2); f.Address != want || f.Why != "its only address" ||
			f.Slots != 2 {
			t.Errorf("host %d: %s, %s, %d slots; want %s", k, f.Address, f.Why, f.Slots, want)
		}
	}
	if len(h.Routes) != 6 {
		t.Fatalf("%d routes, want 6", len(h.Routes))
	}
	for _, r := range h.Routes {
		if !r.IsChosen || r.Fault != "" || r.Latency <= 0 || r.Latency > 1 || r.Rate < 1e6 ||
			r.OffsetErr <= 0 ||
			r.Offset > r.OffsetErr+0.01 || r.Offset < -r.OffsetErr-0.01 {
			t.Errorf("%+v", r)
		}
	}
	if err := doctor.Refuse(h.Findings); err != nil {
		t.Error(err)
	}
}

// An address at which somebody else answers is rejected by the proof, and another one taken.
func TestAMisleadingAddressIsRejected(t *testing.T) {
	list := members(t, facts("127.0.0.17", "127.0.0.2"), facts("127.0.0.17", "127.0.0.3"))
	answers := make(chan json.RawMessage, 1)
	for i, m := range list {
		d := m.Asker.(direct)
		d.answer = func(name string, _, answer json.RawMessage) (json.RawMessage, error) {
			if name != doctor.AskListen {
				return answer, nil
			}
			if i == 0 {
				answers <- answer
				return answer, nil
			}
			return doctor.ShiftPorts(answer, <-answers), nil // b's 127.0.0.17 leads to a
		}
		list[i].Asker = d
	}
	h := preflight(t, list)
	if h.Hosts[1].Address != "127.0.0.3" || h.Hosts[1].Why != "the only one of 2 that all reach" {
		t.Errorf("b: %s, %s", h.Hosts[1].Address, h.Hosts[1].Why)
	}
}

func TestAHostThatNobodyReachesIsNamed(t *testing.T) {
	list := members(t, facts("127.0.0.2"), facts("127.0.0.3"))
	d := list[1].Asker.(direct)
	d.answer = func(name string, _, answer json.RawMessage) (json.RawMessage, error) {
		if name == doctor.AskListen {
			return json.RawMessage(`{"ports":[1]}`), nil // nobody listens there
		}
		return answer, nil
	}
	list[1].Asker = d
	h := preflight(t, list)
	if h.Hosts[0].Address != "127.0.0.2" || h.Hosts[1].Address != "" {
		t.Errorf("addresses %q and %q", h.Hosts[0].Address, h.Hosts[1].Address)
	}
	err := doctor.Refuse(h.Findings)
	want := "route: a does not reach b, though b reaches a: 127.0.0.3 (eth0): refused → let b accept TCP " +
		"connections from a"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestVerdictsOfUnequalHosts(t *testing.T) {
	slow := facts("127.0.0.3")
	slow.UsableCores, slow.LogicalCores, slow.Affinity, slow.ISA = 2, 2, 2, []string{"plain"}
	slow.FreeMemoryBytes = 3 << 30
	first := facts("127.0.0.2")
	first.ISA = []string{"plain", "avx2", "avx512"}
	h := preflight(t, members(t, first, slow, facts("127.0.0.4")))
	for _, want := range []struct{ level, topic, text string }{
		{record.LevelWarning, "cores", "workers of b have 1 cores each, those of a 4"},
		{record.LevelWarning, "processor", "b: no AVX2"},
	} {
		texts := found(h, want.level, want.topic)
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, want.text) }) {
			t.Errorf("no %s %s: %q among %q", want.level, want.topic, want.text, texts)
		}
	}
}

// Clocks are compared by the probes, not by when the facts arrive.
func TestClocksAnHourApart(t *testing.T) {
	for _, test := range []struct {
		ahead time.Duration
		level string
		text  string
	}{
		{time.Hour, record.LevelError, "the clock of b is 1h0m0s ahead of that of a: its processes take " +
			"the token"},
		{-time.Hour, record.LevelError, "the clock of b is 1h0m0s behind that of a: its processes take " +
			"the token"},
		{10 * time.Minute, record.LevelWarning, "the clock of b is 10m0s ahead of that of a: times in logs"},
	} {
		late := doctor.NewTestHost(facts("127.0.0.3"), func() time.Time { return time.Now().Add(test.ahead) })
		defer late.Close()
		list := members(t, facts("127.0.0.2"))
		list = append(list, doctor.Member{Label: "b", Slots: 2, Asker: direct{Host: late}})
		h := preflight(t, list)
		if texts := found(h, test.level, "clock"); len(texts) != 1 || !strings.Contains(texts[0],
			test.text) {
			t.Errorf("%v: %q", test.ahead, h.Findings)
		}
		if off := h.Hosts[1].ClockOffset - test.ahead.Seconds(); off > 1 || off < -1 {
			t.Errorf("%v: offset %v s", test.ahead, h.Hosts[1].ClockOffset)
		}
	}
}

// A host that does not answer is named.
func TestAHostThatFailsToAnswer(t *testing.T) {
	lost := errors.New("the connection has ended")
	for _, question := range []string{doctor.AskFacts, doctor.AskListen, doctor.AskProbe} {
		list := members(t, facts("127.0.0.2"), facts("127.0.0.3"))
		d := list[1].Asker.(direct)
		d.answer = func(name string, _, answer json.RawMessage) (json.RawMessage, error) {
			if name == question {
				return nil, lost
			}
			return answer, nil
		}
		list[1].Asker = d
		_, err := doctor.LoopbackPreflight(t.Context(), list)
		failed := (*doctor.HostError)(nil)
		if !errors.As(err, &failed) || failed.Host != "b" || !errors.Is(err, lost) {
			t.Errorf("%s: %v", question, err)
		}
	}
}

// One host has no routes, and its workers meet on the loopback interface.
func TestPreflightOfOneHost(t *testing.T) {
	h := preflight(t, members(t, facts("127.0.0.2")))
	if h.Hosts[0].Address != "127.0.0.1" || len(h.Routes) != 0 {
		t.Errorf("%+v", h)
	}
}

// Loopback is never a way to another host.
func TestLoopbackIsNoRoute(t *testing.T) {
	h, err := doctor.Preflight(t.Context(), members(t, facts("127.0.0.2"), facts("127.0.0.3")))
	if err != nil {
		t.Fatal(err)
	}
	if texts := found(h, record.LevelError, "route"); len(texts) != 2 ||
		!strings.Contains(texts[0], "a has no address at which other hosts could reach it") {
		t.Errorf("%q", h.Findings)
	}
}
