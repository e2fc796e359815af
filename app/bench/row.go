package bench

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/app/strategy"
)

// way is a strategy with settings of its own.
type way struct {
	strategy string
	options  string          // the settings, as given
	values   []setting.Value // the same
}

// has reports whether the way gives the setting called name.
func (w way) has(name string) bool {
	return slices.ContainsFunc(w.values, func(v setting.Value) bool { return v.Name == name })
}

// parseWay reads a way as [setting.ValuesOf] does.
func parseWay(text string) way {
	strategy, options, _ := strings.Cut(text, ":")
	return way{strategy: strategy, options: options, values: setting.ValuesOf(text)[1:]}
}

// withOption adds a setting to a strategy as parseWay takes it; without a value it does not.
func withOption(text, name, value string) string {
	switch {
	case value == "":
		return text
	case strings.Contains(text, ":"):
		return text + "+" + name + "=" + value
	}
	return text + ":" + name + "=" + value
}

// Row is one row of a benchmark: a configuration under a condition.
type Row struct {
	setting.Config
	Variant
}

// Variant is what a row has beside its configuration.
type Variant struct {
	Options   string    `json:"options,omitempty"`  // the settings that the row alone has, as given
	Condition Condition `json:"condition,omitzero"` // under which it runs
	Layout
	Cores     int    `json:"cores,omitempty"`      // of its hosts together; 0: those of this machine
	Rounds    int    `json:"rounds,omitempty"`     // in which it runs, from the first; 0: in all
	PerWorker int    `json:"per_worker,omitempty"` // samples of each, where the batch grows; else 0
	Peer      string `json:"peer,omitempty"`       // other program that does the work; "": this one
}

// Layout is how the workers of a row are distributed: as many on each of some hosts. The zero value leaves
// that to the launcher.
type Layout struct {
	Hosts   int `json:"hosts,omitempty"`    // from the first
	PerHost int `json:"per_host,omitempty"` // workers of each
}

// savedRow is a row as JSON has it: that of its configuration would stand for all of it.
type savedRow struct {
	Config setting.Config `json:"config"`
	Variant
}

// MarshalJSON writes the row with absolute paths, so that it can be run from any folder.
func (r Row) MarshalJSON() ([]byte, error) { return json.Marshal(savedRow{r.Rooted(), r.Variant}) }

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Row) UnmarshalJSON(text []byte) error {
	var s savedRow
	err := json.Unmarshal(text, &s)
	r.Config, r.Variant = s.Config, s.Variant
	return err
}

// Name labels the row: model, strategy, its shape as [record.Setting.Shape] has it, its own settings, a wire
// that is no plain one, slowed workers, the condition.
func (r Row) Name() string {
	return strings.Join(append([]string{r.Model, r.Strategy, r.Setting().Shape()}, r.labels()...), " ")
}

// labels returns what tells the row from others of its strategy and shape.
func (r Row) labels() []string {
	all := []string{strings.ReplaceAll(r.Options, "+", " "), r.wire(), r.slow(), r.Condition.Name}
	return slices.DeleteFunc(all, func(label string) bool { return label == "" })
}

// wire returns the compression of gradients; "" if there is none, nothing is exchanged, or it is one of the
// row's own settings.
func (r Row) wire() string {
	if r.hasOwnWire() {
		return ""
	}
	return wireOf(r.Workers, r.Strategy, r.Wire)
}

// slow names workers and loaders that are slowed by a setting of all rows, not by one of the row's own or by
// the condition; "" if there are none.
func (r Row) slow() (label string) {
	for _, s := range [][2]string{{"slow-worker", r.SlowWorkers.String()},
		{"slow-loader", r.SlowLoader.String()}} {
		if s[1] != "" && !strings.Contains(r.Condition.Name, s[0]) && !parseWay(":"+r.Options).has(s[0]) {
			label += " " + s[0] + "=" + s[1]
		}
	}
	return strings.TrimPrefix(label, " ")
}

// hasOwnWire reports whether the wire is one of the row's own settings.
func (r Row) hasOwnWire() bool { return parseWay(":" + r.Options).has("wire") }

// isApart reports whether the row runs in a lab. A single worker has no link.
func (r Row) isApart() bool { return r.Condition.IsApart() && r.Workers > 1 }

// Setting returns the row's configuration as asked for; collect adds the values that a run has resolved.
func (r Row) Setting() record.Setting {
	wire := wireOf(r.Workers, r.Strategy, r.Wire)
	place := ""
	if r.NumServers() > 0 {
		place = r.ServerPlace
	}
	inexact := r.Inexact()
	switch {
	case r.Peer != "":
		inexact = inexactPeer
	case inexact == "" && r.Workers > 1 && parseWay(":"+r.Options).has("lr"):
		inexact = "a learning rate of its own"
	}
	rate := 0.0
	if r.isApart() {
		rate = r.Condition.Link.Rate
	}
	return record.Setting{Servers: r.NumServers(), ServerPlace: place, Peer: r.Peer,
		Wire: wire, IsLossy: setting.IsLossy(wire), Inexact: inexact,
		Model: r.Model, Data: r.Data, Strategy: r.Strategy, Algorithm: r.Algorithm,
		Link: r.Link, LinkRate: rate,
		Workers: r.Workers, Threads: r.Threads, SlowWorkers: r.SlowWorkers.String(), Batch: r.Batch,
		SlowLoader: r.SlowLoader.String(),
		PerWorker:  r.PerWorker, Hosts: r.Hosts, PerHost: r.PerHost, Cores: r.Cores,
		Shards: r.Shards, Steps: r.Steps, Epochs: r.Epochs, For: r.For, LR: r.Optimizer.LR, Seed: r.Seed,
		Options: r.Options, Condition: r.Condition.String(), Weights: r.Weights,
	}
}

// length returns that of the row: in steps or, where it trains for a time, in seconds.
func (r Row) length() int {
	if d := r.Duration(); d > 0 {
		return max(1, int(d.Seconds()))
	}
	return r.NumSteps(r.LimitTrain)
}

// directory names a run's folder so that a listing is in the order of rounds and rows.
func (r Row) directory(t Trial) string {
	name := fmt.Sprintf("%02d-%02d-%s-%s-w%dt%d", t.Round+1, t.Row+1, r.Model, r.Strategy, r.Workers,
		r.Threads)
	if r.Hosts > 0 {
		name += fmt.Sprintf("h%d", r.Hosts)
	}
	return strings.Map(plain, strings.Join(append([]string{name}, r.labels()...), "-"))
}

// plain replaces what some file systems do not take in a name.
func plain(c rune) rune {
	isPlain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		strings.ContainsRune("-._", c)
	if isPlain {
		return c
	}
	return '-'
}

// wireOf returns the compression of gradients; "" if there is none or nothing is exchanged.
func wireOf(workers int, way, wire string) string {
	if workers == 1 || strategy.Named(way).IsFloor || wire == "fp32" {
		return ""
	}
	return wire
}
