package data_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/data"
)

// A table that may take little memory is kept in a file that nobody else sees, with the samples, the split
// and the validation part of the same table in memory.
func TestATableFromItsFile(t *testing.T) {
	lines := []string{"x;port;label"}
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("%d;%c;%d", i*i%97, 'A'+i%3, i%2))
	}
	path := table(t, t.TempDir(), "train", lines...) + "/train.csv"
	cache := t.TempDir()
	whole := loadPath(t, path, data.Options{Cache: cache})
	stored := loadPath(t, path, data.Options{Cache: cache, InMemory: 64})
	if whole.Train.Samples != nil || stored.Train.Samples == nil || stored.Train.Pixels != nil {
		t.Fatal("want the one in memory and the other not")
	}
	if left, err := os.ReadDir(filepath.Join(cache, "samples")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	for name, share := range map[string]float64{"without validation": 0, "with validation": 0.2} {
		a, b := whole, stored
		if share > 0 {
			var err, err2 error
			if a, err = whole.WithValidation(share, 3); err == nil {
				b, err2 = stored.WithValidation(share, 3)
			}
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
		}
		for i, set := range a.All() {
			same := b.All()[i]
			var one, other data.Shard
			if err := set.Take(&one, 0, set.Len()); err != nil {
				t.Fatal(err)
			}
			if err := same.Take(&other, 0, same.Len()); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(one.Images, other.Images) || !slices.Equal(one.Labels, other.Labels) ||
				!slices.Equal(set.Mean, same.Mean) || !slices.Equal(set.Std, same.Std) {
				t.Errorf("%s: part %d differs", name, i)
			}
		}
	}
}

// Texts whose tokens may take little memory are read from a file, with the hash of the same in memory.
func TestTextsFromTheirFile(t *testing.T) {
	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprintf("text %d says %s,%d", i, strings.Repeat("a b ", i%7), i%2))
	}
	path := table(t, t.TempDir(), "train", append([]string{"text,label"}, lines...)...) + "/train.csv"
	cache := t.TempDir()
	whole := loadPath(t, path, data.Options{Cache: cache})
	stored := loadPath(t, path, data.Options{Cache: cache, InMemory: 512})
	if len(whole.Train.Texts.Tokens) == 0 || len(stored.Train.Texts.Tokens) > 0 {
		t.Fatal("want the tokens of the one in memory, and not those of the other")
	}
	if !strings.Contains(whole.String(), "made of the training texts") {
		t.Error(whole.String())
	}
	a, err := whole.WithValidation(0.2, 3)
	b, err2 := stored.WithValidation(0.2, 3)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for i, set := range a.Limit(100, 100).All() {
		same := b.Limit(100, 100).All()[i]
		if err := same.Check(); err != nil {
			t.Error(err)
		}
		if set.SHA256() != same.SHA256() {
			t.Errorf("part %d differs", i)
		}
		var one, other data.Shard
		if err := set.Take(&one, 1, set.Len()); err != nil {
			t.Fatal(err)
		}
		if err := same.Take(&other, 1, same.Len()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(one.Tokens, other.Tokens) || !slices.Equal(one.Lengths, other.Lengths) {
			t.Errorf("part %d has other tokens", i)
		}
	}
}

// A JSON object per line is a record: of texts or of a table, with names in any order.
func TestJSONLines(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"train.jsonl": `{"x": 1.5, "port": "S", "label": true}` + "\n\n" +
			`{"label": false, "x": null}` + "\r\n" + `{"x": 2, "label": true, "port": "C"}` + "\n",
		"test.csv": "port,x,label\nS,3,false\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := loadPath(t, folder, data.Options{})
	if got := fmt.Sprint(floatsOf(s.Train), floatsOf(s.Test), s.Train.Classes); got !=
		"[1.5 0 0 1 1.75 1 0 0 2 0 1 0] [3 0 0 1] [false true]" {
		t.Error(got)
	}
	for want, text := range map[string]string{
		`line 2: "y", which the first object has not`: `{"x":1,"label":2}` + "\n" + `{"y":1}`,
		"line 1: want a JSON object":                  `[1,2]`,
		`"x" twice`:                                   `{"x":1,"x":2}`,
		"more behind the object":                      `{"x":1} {}`,
		"0 names in the object":                       `{}`,
	} {
		path := filepath.Join(t.TempDir(), "bad.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		rows, err := data.OpenRows(context.Background(), path)
		for err == nil {
			_, _, err = rows.Next()
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// The columns of weights are those of a new file, wherever they stand; categories that they have not are
// told.
func TestTheTableOfWeights(t *testing.T) {
	path := table(t, t.TempDir(), "train", "x,port,label", "1,S,a", "3,C,b", "2,S,a", "4,C,b") + "/train.csv"
	first := loadPath(t, path, data.Options{})
	other := table(t, t.TempDir(), "train", "id,label,port,x", "7,b,Q,5", "8,a,S,?") + "/train.csv"
	s := loadPath(t, other, data.Options{Table: first.Train.Table, EvalOnly: true})
	if got := fmt.Sprint(floatsOf(s.Test), s.Test.Mean[0] == first.Train.Mean[0]); got !=
		fmt.Sprintf("[5 0 0 %v 0 1] true", first.Train.Mean[0]) {
		t.Error(got)
	}
	for _, want := range []string{"2 columns as the weights have them", "left out: column id",
		"port has a value that training samples have not in 1 sample"} {
		if !strings.Contains(s.String(), want) {
			t.Errorf("%s lacks %s", s, want)
		}
	}
}
