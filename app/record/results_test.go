package record_test

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"lockstep/app/record"
)

// Results of the version before are read; those of another are refused by name.
func TestOlderResultsAreRead(t *testing.T) {
	const older = `{"schema":2,"rounds":1,"rows":[{"setting":{"workers":1,"threads":1,"batch":2,"shards":1},
		"runs":[{"round":0,"seconds":1.5,"steps":1,"samples":2,"train_accuracy":null,"test_accuracy":0.5,
		"test_samples":4,"ranks":[{"rank":0,"steps":{"epoch":[0],"samples":[2],"loss":[2.5],"seconds":[1],
		"own_loss":[null],"phases":{"forward":[1]}}}]}]}]}`
	r, err := record.Decode(strings.NewReader(older))
	if err != nil {
		t.Fatal(err)
	}
	run := r.Rows[0].Runs[0]
	if run.Seconds != 1.5 || run.TrainAccuracy != nil || *run.TestAccuracy != 0.5 ||
		run.Ranks[0].Steps.Phases["forward"][0] != 1 {
		t.Errorf("read %+v", run)
	}
	_, err = record.Decode(strings.NewReader(older + "\n{}"))
	if err == nil || !strings.Contains(err.Error(), "after top-level value") {
		t.Errorf("error %v of a file with text behind its end", err)
	}
	_, err = record.Decode(strings.NewReader(strings.Replace(older, `"schema":2`, `"schema":4`, 1)))
	if err == nil || err.Error() != "decode results: schema 4, this program reads 2 and 3" {
		t.Errorf("schema 4: %v", err)
	}
	for _, bad := range []string{`"seconds":[null]`, `"seconds":[-1]`, `"seconds":[1e300]`,
		`"forward":[null]`} {
		name, _, _ := strings.Cut(bad, "[")
		_, err = record.Decode(strings.NewReader(strings.Replace(older, name+"[1]", bad, 1)))
		if err == nil || !strings.Contains(err.Error(), "from 0 to 1e9") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// A run that trains for a time leaves some of its steps in the results, in every column; the first run of a
// row tells how many.
func TestStepsAreThinned(t *testing.T) {
	filled := func(n int) record.Steps {
		s := record.Steps{Phases: map[string]record.Numbers{"forward": make(record.Numbers, n)}}
		v := reflect.ValueOf(&s).Elem()
		for i := range v.NumField() {
			if f := v.Field(i); f.Kind() == reflect.Slice {
				f.Set(reflect.MakeSlice(f.Type(), n, n))
			}
		}
		s.Epoch[9], s.GPU = 7, nil
		return s
	}
	row := record.Row{}
	for _, test := range [][2]int{{9000, 1000}, {100, 12}, {40_000, 4445}} {
		run := record.Run{Ranks: []record.Rank{{Steps: filled(test[0])}, {Rank: 1, Steps: filled(test[0])}}}
		row.Thin(&run)
		for _, rank := range run.Ranks {
			v := reflect.ValueOf(rank.Steps)
			for i := range v.NumField() {
				if f := v.Field(i); f.Kind() == reflect.Slice && f.Len() != test[1] && f.Len() > 0 {
					t.Errorf("%d steps: %d of %s, want %d", test[0], f.Len(), v.Type().Field(i).Name, test[1])
				}
			}
			if s := rank.Steps; len(s.Phases["forward"]) != test[1] || s.Epoch[1] != 7 || s.GPU != nil {
				t.Errorf("%d steps: %d of forward, epoch %d, GPU %v", test[0], len(s.Phases["forward"]),
					s.Epoch[1], s.GPU)
			}
		}
	}
	if row.Every != 9 {
		t.Errorf("one of %d steps, want 9", row.Every)
	}
	short := record.Row{}
	short.Thin(&record.Run{Ranks: []record.Rank{{Steps: filled(2000)}}})
	if short.Every != 1 {
		t.Errorf("one of %d steps of a short run", short.Every)
	}
}

// A file of JSON takes memory in proportion to its bytes: not so many objects, not so deep.
func TestJSONIsBounded(t *testing.T) {
	const many = 2 << 20
	for in, want := range map[string]string{
		`{"rows":[{}` + strings.Repeat(",{}", many) + "]}": "objects in",
		strings.Repeat("[", many):                          "exceeded max depth",
		`{"rows":[`:                                        "unexpected end of JSON input",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := record.Decode(strings.NewReader(in))
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v, want %s", in, err, want)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 256<<20 {
			t.Errorf("%.20s: %d MiB were allocated in all", in, taken>>20)
		}
	}
}
