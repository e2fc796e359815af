package lab_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"lockstep/cluster/lab"
)

func TestRatesAreRead(t *testing.T) {
	for text, want := range map[string]float64{"100mbit": 1e8, "1gbit": 1e9, "2.5Gbit/s": 2.5e9,
		"10kbit": 1e4, "1000 GBIT": 1e12} {
		if got, err := lab.ParseRate(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "no rate such as", "1": "no rate such as", "gbit": "no rate such as", "1gb": "no rate such as",
		"1 gigabit": "no rate such as", "nangbit": "out of range", "-1gbit": "out of range",
		"infgbit": "out of range", "9kbit": "out of range", "1001gbit": "out of range",
	} {
		if _, err := lab.ParseRate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestLossIsRead(t *testing.T) {
	for text, want := range map[string]float64{"0%": 0, "0.1%": 0.001, "50 %": 0.5} {
		if got, err := lab.ParseLoss(text); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0.1", "%", "100%", "-1%", "nan%", "one%"} {
		if got, err := lab.ParseLoss(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}

func TestCutsAreRead(t *testing.T) {
	got, err := lab.ParseCut("3@10s-12.5s")
	want := lab.Cut{Host: 3, From: 10 * time.Second, To: 12500 * time.Millisecond}
	if err != nil || got != want {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	want.Way = lab.Inward
	if got, err := lab.ParseCut("3@10s-12.5s:in"); err != nil || got != want {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, text := range []string{"", "3", "3@", "3@10s", "a@1s-2s", "3@1-2", "3@1s-b", "3@1s-2s:"} {
		if _, err := lab.ParseCut(text); err == nil || !strings.Contains(err.Error(), "3@10s-12s") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestConfigsAreChecked(t *testing.T) {
	for _, c := range []struct {
		want   string
		config lab.Config
	}{
		{"0 hosts, want 1 to 64", lab.Config{}},
		{"1000 hosts, want 1 to 64", lab.Config{Hosts: 1000}},
		{"MTU of 100 bytes", lab.Config{Hosts: 2, MTU: 100}},
		{"delay of -1s", lab.Config{Hosts: 2, Link: lab.Link{Delay: -time.Second}}},
		{"host -1 of 2", lab.Config{Hosts: 2, Cuts: []lab.Cut{{Host: -1, To: 1}}}},
		{`direction "up", want "out" or "in"`,
			lab.Config{Hosts: 2, Cuts: []lab.Cut{{To: 2, Way: "up"}}}},
		{"ends after it begins", lab.Config{Hosts: 2, Cuts: []lab.Cut{{From: 2, To: 2}}}},
	} {
		if err := c.config.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
