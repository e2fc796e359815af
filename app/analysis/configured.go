package analysis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lockstep/app/record"
	"lockstep/app/strategy"
)

// configured is what a run's configuration says, by the names of the settings.
type configured map[string]any

// configOf returns the configuration of a run; nil if there is none, or it is another program's.
func configOf(run *record.Run) configured {
	var c configured
	if json.Unmarshal(run.Config, &c) != nil {
		return nil
	}
	return c
}

// differs reports whether the configuration has another value of a setting, and which. Numbers that are
// written otherwise than as numbers or bytes are taken to agree.
func (c configured) differs(name, claimed string) (ran string, isOther bool) {
	switch v := c[name].(type) {
	case string:
		return v, plainly(v) != plainly(claimed) && !(name == "data" && isRooted(v, claimed))
	case bool:
		want, err := strconv.ParseBool(claimed)
		return strconv.FormatBool(v), err != nil || v != want
	case float64:
		want, err := parseSize(claimed)
		return strconv.FormatFloat(v, 'f', -1, 64), err == nil && v != want
	}
	return "", false
}

// isRooted reports whether an absolute path may be a relative one made whole: a benchmark that is resumed
// runs with whole paths, and its rows have them as they were given.
func isRooted(long, short string) bool {
	short = path.Clean(short)
	for strings.HasPrefix(short, "../") {
		short = strings.TrimPrefix(short, "../")
	}
	isFolder := short == "." || short == ".."
	return path.IsAbs(long) && !path.IsAbs(short) && (isFolder || strings.HasSuffix(long, "/"+short))
}

// someNumber is a number within a text.
var someNumber = regexp.MustCompile(`\d*\.?\d+(?:[eE][-+]?\d+)?`)

// plainly writes all numbers in a text one way: the row has 5,0.50 as it was given, and the run 5,0.5.
func plainly(text string) string {
	return someNumber.ReplaceAllStringFunc(text, func(number string) string {
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return number
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	})
}

// parseSize reads a number, or one of bytes with a unit.
func parseSize(text string) (float64, error) {
	for unit, size := range map[string]float64{"GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10, "B": 1} {
		if digits, hasUnit := strings.CutSuffix(text, unit); hasUnit {
			if v, err := strconv.ParseFloat(digits, 64); err == nil {
				return v * size, nil
			}
		}
	}
	return strconv.ParseFloat(text, 64)
}

// isConfigured says if a run's configuration is not that of its row.
func isConfigured(row *record.Row, run *record.Run) string {
	c, s := configOf(run), row.Setting
	claims := [][2]string{{"model", s.Model}, {"data", s.Data}, {"strategy", s.Strategy},
		{"workers", strconv.Itoa(s.Workers)}, {"batch", strconv.Itoa(s.Batch)},
		{"epochs", strconv.Itoa(s.Epochs)}, {"steps", strconv.Itoa(s.Steps)},
		{"lr", strconv.FormatFloat(s.LR, 'g', -1, 64)}, {"slow-worker", s.SlowWorkers}}
	if run.Seed != 0 || c["seed"] != 0.0 { // which --seeds 0,1 gives, and older results do not tell
		claims = append(claims, [2]string{"seed", strconv.FormatUint(cmp.Or(run.Seed, s.Seed), 10)})
	}
	if s.Servers > 0 {
		claims = append(claims, [2]string{"servers", strconv.Itoa(s.Servers)})
	}
	for option := range strings.SplitSeq(s.Options, "+") {
		name, value, hasValue := strings.Cut(option, "=")
		if !hasValue {
			value = "true"
		}
		claims = append(claims, [2]string{name, value})
	}
	for _, one := range append(claims, c.resolved(s)...) {
		if ran, isOther := c.differs(one[0], one[1]); isOther {
			return fmt.Sprintf("it was run with %s %q, the row says %q.", one[0], ran, one[1])
		}
	}
	return ""
}

// resolved returns what a row says of settings that a run may choose itself, where it was told them. With one
// worker there is nothing to choose between.
func (c configured) resolved(s record.Setting) (claims [][2]string) {
	isTold := func(name string) bool {
		return c[name] != nil && c[name] != "auto" && c[name] != "" && c[name] != 0.0
	}
	if isTold("threads") {
		claims = append(claims, [2]string{"threads", strconv.Itoa(s.Threads)})
	}
	if isTold("shards") {
		claims = append(claims, [2]string{"shards", strconv.Itoa(s.Shards)})
	}
	if s.Workers == 1 || strategy.Named(s.Strategy).IsFloor {
		return claims
	}
	if isTold("link") && s.Peer == "" { // which has links of its own
		claims = append(claims, [2]string{"link", s.Link})
	}
	if own := []string{"", "none", "gather"}; isTold("algorithm") && !slices.Contains(own, s.Algorithm) {
		claims = append(claims, [2]string{"algorithm", s.Algorithm})
	}
	wire := "wire"
	if strategy.Named(s.Strategy).Exchange == strategy.Averages {
		wire = "outer-wire" // of weights: no gradients are sent
	}
	if isTold(wire) && s.Strategy != strategy.Auto {
		claims = append(claims, [2]string{wire, cmp.Or(s.Wire, plainWire)})
	}
	return claims
}

// isGrowing reports whether the batch grows between epochs: a row tells the first one.
func (c configured) isGrowing() bool { return c["adaptive-batch"] != nil && c["adaptive-batch"] != 0.0 }

// plainWire is the wire that sends numbers as they are; a row does not name it.
const plainWire = "fp32"

// isJoint reports whether all workers of a row train one model in common steps.
func isJoint(row *record.Row) bool {
	s := row.Setting
	return s.Peer == "" && strategy.Named(s.Strategy).IsJoint()
}

// model identifies the weights with which a run ended.
type model struct{ data, sha256 string }

// exactModels returns what rows that are held to end with the bits of one worker ended with.
func exactModels(r *record.Results) map[model]bool {
	all := map[model]bool{}
	for _, row := range r.Rows {
		for _, run := range row.Runs {
			if row.Setting.Inexact == "" && !row.Setting.IsLossy && run.ParameterSHA256 != "" {
				all[model{row.Setting.Data, run.ParameterSHA256}] = true
			}
		}
	}
	return all
}

// isInexact says if a row is called inexact or lossy, and so is not compared, although nothing in its
// configuration makes it so and its run ended with the bits of an exact row.
func isInexact(row *record.Row, run *record.Run, exact map[model]bool) string {
	c, s := configOf(run), row.Setting
	called := s.Inexact
	if s.IsLossy {
		called = cmp.Or(called, "its wire is lossy")
	}
	if called == "" || !isJoint(row) || c["wire"] != plainWire || c["algorithm"] == "ring" ||
		!exact[model{s.Data, run.ParameterSHA256}] {
		return ""
	}
	return fmt.Sprintf("the row says %q, and it was run with wire %s and ended with the parameters of rows "+
		"that are exact.", called, plainWire)
}

// isGenerated says if a data set that is always generated is called collected.
func isGenerated(row *record.Row, _ *record.Run) string {
	s := row.Setting
	if own := []string{"glyphs", "synthetic"}; slices.Contains(own, s.Data) && !s.Generated {
		return fmt.Sprintf("the data set %s is generated, and the row says that it is not.", s.Data)
	}
	return ""
}

// isLong says if a run did another number of steps than it was asked for.
func isLong(row *record.Row, run *record.Run) string {
	c, asked := configOf(run), row.Setting.Steps
	if asked == 0 || sharesSteps(row) || c == nil || c["until"] != "" || run.Steps == asked {
		return ""
	}
	return fmt.Sprintf("it did %d steps, and was asked for %d.", run.Steps, asked)
}

// areCopies says if a row that is called a copy of another one has settings of its own. What runs resolve
// themselves may differ.
func areCopies(r *record.Results) (out []string) {
	for i := range r.Rows {
		if r.Rows[i].Copy == 0 {
			continue
		}
		of := i - r.Rows[i].Copy
		a, b := r.Rows[of].Setting, r.Rows[i].Setting
		b.Algorithm, b.Link, b.Wire, b.IsLossy, b.Inexact = a.Algorithm, a.Link, a.Wire, a.IsLossy, a.Inexact
		b.Generated, b.Classes = a.Generated, a.Classes
		if a != b {
			out = append(out, fmt.Sprintf("Row %d is called a copy of row %d and has other settings.", i+1,
				of+1))
		}
	}
	return out
}

// isOfMachine says if a run used kernels that no machine of the benchmark has. Those of other hosts are not
// told.
func isOfMachine(r *record.Results, row *record.Row, run *record.Run) string {
	known := slices.Clone(r.Host.ISA)
	for _, s := range r.Sittings {
		known = append(known, s.Host.ISA...)
	}
	if r.Hosts != nil || row.Setting.Peer != "" || run.ISA == "" || known == nil ||
		slices.Contains(known, run.ISA) {
		return ""
	}
	return fmt.Sprintf("it used the kernels %.20q, and the machine has %s.", run.ISA,
		strings.Join(known, ", "))
}

// alikes finds rows that have one label and were run with different settings.
type alikes map[record.Setting]labelled

// labelled is the first row of a label, with the configuration of its first run.
type labelled struct {
	name string
	of   configured
}

// add says if a row has the label of another one, and other settings.
func (a alikes) add(name string, row *record.Row) string {
	const own = " out seed data-dir master-port resume " // of a run
	var c configured
	if len(row.Runs) > 0 {
		c = configOf(&row.Runs[0])
	}
	first, isKnown := a[row.Setting]
	if c == nil || !isKnown {
		a[row.Setting] = labelled{name, c}
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(c)) {
		if is, was := fmt.Sprint(c[key]), fmt.Sprint(first.of[key]); first.of != nil && is != was &&
			!strings.Contains(own, " "+key+" ") {
			return fmt.Sprintf("it has the label of %s and was run with %s %q, not %q: labels were cut.",
				first.name, key, is, was)
		}
	}
	return ""
}
