package analysis_test

import (
	"encoding/json"
	"strings"
	"testing"

	"lockstep/app/analysis"
	"lockstep/app/record"
)

// withConfig gives all runs of a row a configuration, and the parameters that it ends with.
func withConfig(row *record.Row, config, hash string) {
	for i := range row.Runs {
		row.Runs[i].Config = json.RawMessage(config)
		row.Runs[i].ParameterSHA256 = hash
	}
}

// A row that trains by another rule does other work, also where its label does not say so.
func TestOtherTrainingIsOtherWork(t *testing.T) {
	const sgd = `{"optimizer":"sgd","momentum":0.9,"math":"fast"}`
	for _, test := range []struct{ name, config, hash, refused string }{
		{"equal", sgd, "aa", ""},
		{"optimizer", `{"optimizer":"adamw","weight-decay":0.3,"math":"fast"}`, "bb",
			"optimizer adamw against sgd"},
		{"momentum", `{"optimizer":"sgd","momentum":0.1,"math":"fast"}`, "bb", "momentum 0.1 against 0.9"},
		{"without effect", `{"optimizer":"sgd","momentum":0.1,"math":"fast"}`, "aa", ""},
		{"math", `{"optimizer":"sgd","momentum":0.9,"math":"exact"}`, "bb", ""},
		{"not told", `{"optimizer":"sgd"}`, "bb", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMaker(6, 4)
			withConfig(m.add(record.Setting{Strategy: "single", Workers: 1}, 1, 1.1, 1.2, 1, 1.1, 1.2),
				sgd, "aa")
			withConfig(m.add(record.Setting{Strategy: "ddp", Workers: 2}, 0.5, 0.6, 0.5, 0.6, 0.5, 0.6),
				test.config, test.hash)
			c := analysis.Compare(m.Results)
			if got := c.Groups[0].Lines[1].Refused; got != test.refused {
				t.Errorf("refused for %q, want %q", got, test.refused)
			}
			if got := note(c, "parameters"); strings.Contains(got, "promises the bits") {
				t.Errorf("said of rows that compute otherwise: %s", got)
			}
		})
	}
}

// Mixed precision reaches another result, so its rows win nothing.
func TestMixedPrecisionIsAnotherResult(t *testing.T) {
	m := newMaker(6, 4)
	withConfig(m.add(record.Setting{Strategy: "single", Workers: 1}, 1, 1.1, 1.2, 1, 1.1, 1.2),
		`{"math":"fast"}`, "aa")
	withConfig(m.add(record.Setting{Strategy: "single", Workers: 1, Options: "math=bf16"}, 0.5, 0.6, 0.5, 0.6,
		0.5, 0.6), `{"math":"bf16"}`, "bb")
	c := analysis.Compare(m.Results)
	l := c.Groups[0].Lines[1]
	if got, want := c.Groups[0].Unranked(l), "another result"; got != want {
		t.Errorf("unranked as %q, want %q", got, want)
	}
	if got := note(c, "mixed precision"); !strings.Contains(got, "single 1×1 math=bf16") {
		t.Errorf("caution %q does not name the row", got)
	}
	for i := range m.Rows {
		for j := range m.Rows[i].Runs {
			m.Rows[i].Runs[j].ParameterSHA256 = "aa" // no matrix unit, no other bits
		}
	}
	if got := note(analysis.Compare(m.Results), "mixed precision"); got != "" {
		t.Errorf("caution %q about equal parameters", got)
	}
}

// The runs of a row have one configuration; another one in some of them was put in. What a run does not tell
// is no difference.
func TestRunsOfARowTrainAlike(t *testing.T) {
	for _, test := range []struct {
		name    string
		configs [3]string
		want    string
	}{
		{"alike", [3]string{`{"momentum":0.9}`, `{"momentum":0.9}`, `{"momentum":0.9}`}, ""},
		{"momentum", [3]string{`{"momentum":0.9}`, `{"momentum":0.1}`, `{}`},
			"round 2 was run with momentum 0.1, not 0.9."},
		{"math", [3]string{`{"math":"fast"}`, `{"math":"fast"}`, `{"math":"bf16"}`},
			"round 3 was run with math bf16, not fast."},
		{"math not told", [3]string{`{"momentum":0.9}`, `{"momentum":0.9,"math":"fast"}`, ``}, ""},
		{"told later", [3]string{``, `{"math":"fast"}`, `{"math":"bf16"}`},
			"round 3 was run with math bf16, not fast."},
		{"words in a value", [3]string{`{"weights":"/a against b"}`, `{"weights":"/c against d"}`, ``},
			"round 2 was run with weights /c against d, not /a against b."},
		{"lists", [3]string{`{"milestones":[1,2],"groups":{"a":1}}`, `{"milestones":[1,3],"groups":{"a":1}}`,
			``}, "milestones [1 3], not [1 2]"},
		{"no value", [3]string{`{"vocab":""}`, `{"vocab":"words.txt"}`, ``}, "vocab words.txt, not none."},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMaker(3, 4)
			row := m.add(record.Setting{Strategy: "single", Workers: 1}, 1, 1.1, 1)
			for i, config := range test.configs {
				row.Runs[i].Config = json.RawMessage(config)
			}
			got := ""
			for _, c := range analysis.Compare(m.Results).Contradictions() {
				got += c.Text
			}
			if isTold := strings.Contains(got, "was run with"); !strings.Contains(got, test.want) ||
				isTold != (test.want != "") {
				t.Errorf("contradictions %q, want %q", got, test.want)
			}
		})
	}
}

// A row's own setting is in its label once.
func TestSlowedWorkersAreNamedOnce(t *testing.T) {
	m := newMaker(1, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1, Options: "slow-worker=0:1", SlowWorkers: "0:1"}, 1)
	if got, want := analysis.Compare(m.Results).Groups[0].Lines[0].Label,
		"single 1×1 slow-worker=0:1"; got != want {
		t.Errorf("label %q, want %q", got, want)
	}
}
