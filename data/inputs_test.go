package data_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/data"
)

// Texts in use are those of the same file in training: its header is one, whether it has labels or not.
func TestEachTextKnowsTheHeader(t *testing.T) {
	for _, c := range []struct {
		file                string // what is before the two texts
		text, pair, label   string
		one, two, wantFirst string
	}{
		{"", "1", "", "2", "a,x", "b,y", "a"},
		{"text,label\n", "1", "", "2", "a,x", "b,y", "a"},
		{"comment,label\n", "1", "", "", "a,x", "b,y", "a"},
		{"comment,stars\n", "1", "", "stars", "a,x", "b,y", "a"},
		{"text\n", "1", "", "2", "a", "b", "a"},
		{"comment\n", "1", "", "stars", "a", "b", "a"},
		{"", "1", "", "", "a", "b", "a"},
		{"review\n", "", "", "", "a", "b", "a"},
		{"text,question2\n", "1", "question2", "3", "a,c", "b,d", "a+c"},
		{"", "1", "2", "3", "a,c", "b,d", "a+c"},
		{"label,text\n", "label", "", "", "a,x", "b,y", "a"},
	} {
		path := filepath.Join(t.TempDir(), "new.csv")
		if err := os.WriteFile(path, []byte(c.file+c.one+"\n"+c.two+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var texts []string
		o := data.Options{TextColumn: c.text, PairColumn: c.pair, LabelColumn: c.label}
		err := data.EachText(context.Background(), path, o, func(text, second string) error {
			texts = append(texts, strings.TrimSuffix(text+"+"+second, "+"))
			return nil
		})
		if err != nil || len(texts) != 2 || texts[0] != c.wantFirst {
			t.Errorf("%+v: %q, %v", c, texts, err)
		}
	}
}

// A link to an image is one in use, as it is in training; one to nothing is none.
func TestImagesInFollowsLinks(t *testing.T) {
	folder, target := t.TempDir(), filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(folder, "b.png")
	err := errors.Join(os.Symlink(target, link), os.Symlink(target+"x", filepath.Join(folder, "c.png")))
	if err != nil {
		t.Skip(err)
	}
	if got, err := data.ImagesIn(folder); err != nil || !slices.Equal(got, []string{link}) {
		t.Errorf("%v, %v; want the link that leads to an image", got, err)
	}
}

func TestEachTextNamesItsFault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.csv")
	for want, text := range map[string]string{"empty": "", "no record behind the header": "text\n",
		"no column text": "comment\na\n", "line 3: 2 fields": "text\na\nb,c\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := data.EachText(context.Background(), path, data.Options{},
			func(_, _ string) error { return nil })
		if bad := (*data.FormatError)(nil); !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	stop, seen := errors.New("stop"), 0
	texts, o := textFolder(t, map[string]string{"my.csv": "text\n" + strings.Repeat("a\n", 99)})
	err := data.EachText(context.Background(), filepath.Join(texts, "my.csv"), o, func(_, _ string) error {
		seen++
		return stop
	})
	if !errors.Is(err, stop) || seen != 1 {
		t.Errorf("%d texts were visited, error %v; want 1 and what visit returned", seen, err)
	}
}

// An object is refused at its 1,025th name, before all names are compared with each other.
func TestObjectOfManyNames(t *testing.T) {
	var names []string
	for i := range 1024 {
		names = append(names, fmt.Sprintf(`"a%d":0`, i))
	}
	few := "{" + strings.Join(names, ",") + "}\n"
	if records, err := data.Records(strings.NewReader(few), "x.jsonl"); err != nil || len(records) != 2 {
		t.Errorf("1,024 names: %d records, %v", len(records), err)
	}
	rest := slices.Repeat([]string{`"b":0`}, 100_000) // twice, which would be said if they were read
	many := "{" + strings.Join(append(names, rest...), ",") + "}\n"
	_, err := data.Records(strings.NewReader(many), "x.jsonl")
	if err == nil || !strings.Contains(err.Error(), "more than 1024 names") {
		t.Errorf("%d names: %v", len(names)+len(rest), err)
	}
}
