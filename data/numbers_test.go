package data_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/data"
)

// table writes a part of a table and returns its folder.
func table(t testing.TB, folder, part string, lines ...string) string {
	t.Helper()
	text := strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(folder, part+".csv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

func floatsOf(s *data.Set) (all []float32) {
	for i := 0; i < len(s.Pixels); i += 4 {
		all = append(all, math.Float32frombits(binary.LittleEndian.Uint32(s.Pixels[i:])))
	}
	return all
}

// Numbers are standardised by the training samples, categories have a channel for each value, a missing
// number is the mean and marked, and the other parts have the columns of the first, wherever they stand.
func TestTableOfNumbers(t *testing.T) {
	folder := table(t, t.TempDir(), "train", "age,port,label,fare", "10,S,no,1", "30,C,yes,", "20,S,yes,3")
	table(t, folder, "test", "fare,label,port,age,more", "7,no,Q,?,1")
	s := loadPath(t, folder, data.Options{})
	want := "[10 0 1 1 0 30 1 0 2 1 20 0 1 3 0]"
	if got := fmt.Sprint(floatsOf(s.Train)); got != want {
		t.Errorf("training samples %v, want %v", got, want)
	}
	if got := fmt.Sprint(floatsOf(s.Test)); got != "[20 0 0 7 0]" {
		t.Errorf("test sample %v", got)
	}
	if fmt.Sprint(s.Train.Mean) != "[20 0 0 2 0]" || fmt.Sprint(s.Test.Std) != "[8.164966 1 1 1 1]" {
		t.Errorf("mean %v, deviation %v", s.Train.Mean, s.Test.Std)
	}
	if got := s.String(); !strings.Contains(got, "2 classes, no: 1 + 1, yes: 2 + 0") || !strings.Contains(got,
		"3 columns, port is a category of 2 values, fare is missing in 1 training sample") {
		t.Errorf("described as %s", got)
	}
	var sh data.Shard
	err := s.Train.Take(&sh, 0, 3)
	if err != nil || sh.Images[0] != (10-20)/s.Train.Std[0] || sh.Images[8] != 0 {
		t.Errorf("normalised %v, error %v", sh.Images, err)
	}
	alone := table(t, t.TempDir(), "train", "kind,size", "a,1", "b,2")
	byNumber := loadPath(t, filepath.Join(alone, "train.csv"), data.Options{LabelColumn: "1", EvalOnly: true})
	if got := fmt.Sprint(byNumber.Test.Classes, floatsOf(byNumber.Test)); got != "[a b] [1 2]" {
		t.Errorf("labels by the number of their column: %s", got)
	}
}

// A column without a name, as pandas writes the numbers of rows, is no feature.
func TestAColumnWithoutANameIsLeftOut(t *testing.T) {
	folder := table(t, t.TempDir(), "train", ",x,,label", "0,5,0,a", "1,6,1,b")
	table(t, folder, "test", "x,label,", "7,a,0")
	s := loadPath(t, folder, data.Options{})
	if got := fmt.Sprint(floatsOf(s.Train), floatsOf(s.Test)); got != "[5 6] [7]" {
		t.Errorf("features %s", got)
	}
	if got := s.String(); !strings.Contains(got, `left out: column ""`) {
		t.Errorf("described as %s", got)
	}
}

// A .csv is separated by what its first line has most of, outside of quotes.
func TestSeparators(t *testing.T) {
	for header, row := range map[string]string{"x;port, of call;label": "1;S, T;a",
		"x,\"a;b;c\",label": "1,S,a", "x\tport, of call\tlabel": "1\tS\ta", "x,label": "1,a"} {
		s := loadPath(t, table(t, t.TempDir(), "train", header, row, row[:len(row)-1]+"b"), data.Options{})
		if len(s.Train.Classes) != 2 || !slices.Contains(s.Train.Table.Names(), "x") {
			t.Errorf("%s: %v, columns %q", header, s.Train.Classes, s.Train.Table.Names())
		}
	}
}

// A list or an object is no label, no feature and no text; in a column that nobody reads it is fine.
func TestListsAreNoValues(t *testing.T) {
	for text, isFine := range map[string]bool{
		`{"x": 1, "label": "a"}`: true, `{"x": [1], "label": "a"}`: false, `{"x": 1, "label": ["a"]}`: false,
		`{"x": {}, "label": "a"}`: false, `{"text": "a", "label": "a", "more": [1]}`: true,
		`{"text": ["a"], "label": "a"}`: false} {
		path := filepath.Join(t.TempDir(), "rows.jsonl")
		lines := text + "\n" + strings.Replace(text, `"label": "a"`, `"label": "b"`, 1) + "\n"
		if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := data.Catalog{}.Load(context.Background(), path, data.Options{})
		if (err == nil) != isFine || err != nil && !strings.Contains(err.Error(), "is a list or an object") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// In a file with semicolons, as spreadsheets write it where numbers have a comma, they are numbers.
func TestDecimalCommas(t *testing.T) {
	s := loadPath(t, table(t, t.TempDir(), "train", "x;port;label", "-1,5;S;a", "2;S,1;b", "0,25;S;a",
		"1;C;b"), data.Options{EvalOnly: false})
	whole := append(floatsOf(s.Train), floatsOf(s.Test)...)
	columns := s.Train.Table.Columns
	if !slices.Contains(whole, -1.5) || !columns[0].IsNumber || columns[1].IsNumber {
		t.Errorf("%v, %+v", whole, columns)
	}
}

// Without a test file a tenth is held out, and has no part in mean and deviation.
func TestTableHoldsOut(t *testing.T) {
	lines := []string{"x,label"}
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("%d,%d", i*i, i%2))
	}
	s := loadPath(t, table(t, t.TempDir(), "train", lines...)+"/train.csv", data.Options{})
	sum := 0.0
	for _, x := range floatsOf(s.Train) {
		sum += float64(x)
	}
	if !s.IsHeldOut || s.Test.Len() != 4 || float32(sum/36) != s.Train.Mean[0] {
		t.Errorf("%d held out, mean %v of samples, %v said", s.Test.Len(), sum/36, s.Train.Mean)
	}
}

func TestFaultsOfTablesAreNamed(t *testing.T) {
	many := []string{"id,label"}
	for i := range 300 {
		many = append(many, fmt.Sprintf("a%d,%d", i, i%2))
	}
	for want, lines := range map[string][]string{
		`columns 1 and 3 are both called "x"`:        {"x,label,x", "1,a,2", "2,b,3"},
		"line 3: 3 fields, want 2":                   {"x,label", "1,a", "2,b,3"},
		"1026 fields, want at most 1024":             {strings.Repeat("x,", 1025) + "label"},
		"several columns are called label":           {"x,label,label", "1,a,b"},
		`column "x": inf in line 3 of `:              {"x,label", "1,a", "inf,b"},
		`column "x": 1e400 in line 2 of `:            {"x,label", "1e400,a", "2,b"},
		"no column beside":                           {"label", "a", "b"},
		`column "id": more than 256 values that are`: many,
		"all samples are of one class":               {"x,label", "1,a", "2,a"},
	} {
		folder := table(t, t.TempDir(), "train", lines...)
		table(t, folder, "test", lines...)
		_, err := data.Catalog{}.Load(context.Background(), folder, data.Options{})
		format := (*data.FormatError)(nil)
		if !errors.As(err, &format) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a *FormatError with %q", err, want)
		}
	}
	// A label by number does not make the first row of a file without header names.
	for _, lines := range [][]string{{"5.1,3.5,setosa", "4.9,3,setosa", "7,3.2,virginica"},
		{"a;1.5;x", "b;2;y"}} {
		bare := table(t, t.TempDir(), "train", lines...)
		_, err := data.Catalog{}.Load(context.Background(), bare, data.Options{LabelColumn: "3"})
		if err == nil || !strings.Contains(err.Error(), "but a table begins with a line of names; add that") {
			t.Errorf("%s: %v", lines[0], err)
		}
	}
	plain := table(t, t.TempDir(), "train", "x,label", "1,a", "2,b")
	_, err := data.Catalog{}.Load(context.Background(), plain, data.Options{LabelColumn: "kind"})
	if err == nil || !strings.Contains(err.Error(), "no column of classes, kind, and none of texts") {
		t.Errorf("a column of labels that is not there: %v", err)
	}
	folder := table(t, t.TempDir(), "train", "x,label", "1,a", "2,b")
	table(t, folder, "test", "y,label", "1,a")
	_, err = data.Catalog{}.Load(context.Background(), folder, data.Options{})
	if err == nil || !strings.Contains(err.Error(), `no column x, which the training file has`) {
		t.Errorf("got %v", err)
	}
	alone := table(t, t.TempDir(), "test", "x,label", "red,a", "blue,b")
	_, err = data.Catalog{}.Load(context.Background(), alone, data.Options{EvalOnly: true})
	if err == nil || !strings.Contains(err.Error(), "which the training file explains") {
		t.Errorf("categories without a training file: %v", err)
	}
	path := filepath.Join(folder, "train.csv")
	_, err = data.Catalog{}.Load(context.Background(), path, data.Options{Validation: path})
	if err == nil || !strings.Contains(err.Error(), "it is trained on") {
		t.Errorf("the training file as validation: %v", err)
	}
	table(t, folder, "test", "x,label", "many,a")
	_, err = data.Catalog{}.Load(context.Background(), folder, data.Options{})
	if err == nil || !strings.Contains(err.Error(), `line 2: column "x": "many", want a finite number`) {
		t.Errorf("got %v", err)
	}
}

// A number of each row's own is no class, whether rows are numbers or texts.
func TestNumbersAreNoClasses(t *testing.T) {
	for _, column := range []string{"rooms", "text"} {
		lines := []string{column + ",price"}
		for i := range 30 {
			lines = append(lines, fmt.Sprintf("%d,%d", i%5, 100+i))
		}
		path := filepath.Join(table(t, t.TempDir(), "train", lines...), "train.csv")
		_, err := data.Catalog{}.Load(t.Context(), path, data.Options{LabelColumn: "price"})
		if err == nil || !strings.Contains(err.Error(), "has 30 values, such as \"100\", in 30 samples") {
			t.Errorf("%s: %v", column, err)
		}
	}
}
