package compare_test

import (
	"fmt"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

// A cell says of a row's parameters what the note on all rows says.
func TestAgreement(t *testing.T) {
	const sgd, adamw = `{"optimizer":"sgd"}`, `{"optimizer":"adamw"}`
	for _, test := range []struct {
		name          string
		config, hash  string            // of the third row; the first two train by sgd and end with aa
		second, third compare.Agreement // what is said of them
		rule, part    string            // what is found of all rows
	}{
		{"equal", sgd, "aa", compare.AllRows, compare.AllRows, "parameters agree", "rows:3"},
		{"other work", adamw, "bb", compare.EqualWork, compare.OfOtherWork,
			"parameters agree", "all:false"},
		{"without effect", adamw, "aa", compare.AllRows, compare.AllRows,
			"parameters agree", "rows:3"},
		{"broken", sgd, "bb", compare.RowsDiffer, compare.RowsDiffer, "parameters differ", "sets:2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMaker(2, 4)
			withConfig(m.add(record.Setting{Strategy: "single", Workers: 1}, 1, 1), sgd, "aa")
			withConfig(m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1, 1), sgd, "aa")
			withConfig(m.add(record.Setting{Strategy: "ddp", Workers: 4}, 1, 1), test.config, test.hash)
			c := compare.Compare(m.Results)
			g := &c.Groups[0]
			if second, third := g.Agreement(g.Lines[1]), g.Agreement(g.Lines[2]); second != test.second ||
				third != test.third {
				t.Errorf("said %v and %v, want %v and %v", second, third, test.second, test.third)
			}
			wantFound(t, c, test.rule, test.part)
		})
	}
}

// A row whose runs of one seed failed is compared by the other seeds.
func TestAgreementSeedBySeed(t *testing.T) {
	m := newMaker(2, 4)
	seeded(m.add(record.Setting{Strategy: "single", Workers: 1}, 4, 4), 160, 0.9, 0.8)
	seeded(m.add(record.Setting{Strategy: "ddp", Workers: 2}, 3, 3), 120, 0.9, 0.8)
	row := m.add(record.Setting{Strategy: "ddp", Workers: 4}, 2, 2)
	seeded(row, 80, 0.9, 0.8)
	row.Runs[0].Error = "rank 1 was killed"
	c := compare.Compare(m.Results)
	g := &c.Groups[0]
	if got, want := g.Agreement(g.Lines[2]), compare.AllRows; got != want {
		t.Errorf("said %v, want %v", got, want)
	}
	wantFound(t, c, "parameters agree", "rows:3", "seeds:2")
	row.Runs[1].ParameterSHA256 = "another" // with the second seed, whose hashes are then the most
	c = compare.Compare(m.Results)
	g = &c.Groups[0]
	for _, l := range g.Lines {
		if got, want := g.Agreement(l), compare.RowsDiffer; got != want {
			t.Errorf("%s: said %v, want %v", l.Label, got, want)
		}
	}
	wantFound(t, c, "parameters differ", "sets:2")
}

// A setting that had no effect with a seed that both rows have is no other work, whichever seed failed.
func TestWithoutEffectSeedBySeed(t *testing.T) {
	m := newMaker(2, 4)
	for i, config := range []string{`{"momentum":0.9}`, `{"momentum":0.1}`} {
		row := m.add(record.Setting{Strategy: "single", Workers: 1, Threads: i + 1}, 4, 4)
		seeded(row, 160, 0.9, 0.8)
		for j := range row.Runs {
			row.Runs[j].Config = []byte(config)
		}
	}
	m.Rows[1].Runs[0].Error = "rank 0 was killed"
	if l := compare.Compare(m.Results).Groups[0].Lines[1]; l.Refused != nil {
		t.Errorf("refused for %v", l.Refused)
	}
	m.Rows[1].Runs[1].ParameterSHA256 = "another"
	l := compare.Compare(m.Results).Groups[0].Lines[1]
	if fmt.Sprint(l.Refused) != "[{momentum [0.1 0.9]}]" {
		t.Errorf("refused for %v, want the momentum", l.Refused)
	}
}
