package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/setting"
	"lockstep/internal/regular"
)

// PlanFile is the file of a benchmark's folder with the plan, by which the benchmark can be resumed.
const PlanFile = "plan.json"

// maxPlanBytes is a size that no plan has.
const maxPlanBytes = 64 << 20

// savedPlan is the content of plan.json.
type savedPlan struct {
	Schema int `json:"schema"`
	Plan
	Seconds float64 `json:"seconds,omitempty"` // that all sittings may take; 0: as long as they do
}

// savePlan writes the plan of a benchmark with absolute paths, so that it can be resumed from any folder.
func savePlan(folder string, p Plan, limit time.Duration) error {
	text, err := json.Marshal(savedPlan{record.Schema, p, limit.Seconds()})
	if err == nil {
		err = regular.Replace(filepath.Join(folder, PlanFile), func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("bench: plan: %w", err)
	}
	return nil
}

// readBench reads the plan of a benchmark's folder, with its limit, and the results; nil if there are none.
func readBench(folder string, k *setting.Catalog) (Plan, time.Duration, *record.Results, error) {
	plan, limit, err := readPlan(folder, k)
	if err != nil {
		return plan, limit, nil, err
	}
	r, err := readResults(folder, plan)
	return plan, limit, r, err
}

// readPlan reads what savePlan wrote. Each row is checked as [Expand] does. The error is a
// *setting.UsageError.
func readPlan(folder string, k *setting.Catalog) (Plan, time.Duration, error) {
	path := filepath.Join(folder, PlanFile)
	f, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Plan{}, 0, usage("%s has no %s, so it is no benchmark that can go on; want the "+
			"folder of one", folder, PlanFile)
	}
	if err != nil {
		return Plan{}, 0, usage("%v", err)
	}
	defer f.Close()
	var s savedPlan
	if err := record.ReadJSON(io.LimitReader(f, maxPlanBytes), &s); err != nil {
		return Plan{}, 0, usage("%s: %v", path, err)
	}
	if s.Schema != record.Schema {
		return Plan{}, 0, usage("%s has schema %d, this program reads %d", path, s.Schema, record.Schema)
	}
	if err := s.check(k); err != nil {
		return Plan{}, 0, usage("%s: %v", path, err)
	}
	return s.Plan, time.Duration(s.Seconds * float64(time.Second)), nil
}

// check refuses what no plan has. Its rows get the names that k has.
func (s *savedPlan) check(k *setting.Catalog) error {
	isCount := len(s.Rows) > 0 && len(s.Rows) <= record.MaxRows && s.Repeats >= 1 &&
		s.Repeats <= record.MaxRounds && s.Copies >= 1 && s.Copies <= record.MaxRows
	if !isCount || !(s.Seconds >= 0 && s.Seconds < 1e9) || !(s.Precision >= 0 && s.Precision < 1) {
		return fmt.Errorf("%d rows, %d repeats, %d copies, precision %v, %v seconds: this is no plan",
			len(s.Rows), s.Repeats, s.Copies, s.Precision, s.Seconds)
	}
	s.Asked = min(s.Asked, record.MaxRounds)
	for i := range s.Rows {
		r := &s.Rows[i]
		r.Catalog = k
		err := r.Validate()
		switch least := min(r.Rounds, r.Hosts, r.PerHost, r.Cores, r.PerWorker); {
		case least < 0:
			err = fmt.Errorf("a count of %d, want 0 or more", least)
		case r.For != "":
			err = fmt.Errorf("it is to train for %s, but rows of a benchmark have a number of steps or "+
				"epochs",
				r.For)
		case r.Resume != "":
			err = fmt.Errorf("it resumes the run in %s, which no benchmark does", r.Resume)
		}
		if err != nil {
			return fmt.Errorf("row %d (%s): %w", i+1, r.Name(), err)
		}
	}
	return nil
}

// readResults reads the results of an interrupted benchmark and checks that they are of the plan's rows; nil
// without results, because no run had ended.
func readResults(folder string, p Plan) (*record.Results, error) {
	r, err := report.Read(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, usage("%v", err)
	}
	if r.IsChanged {
		return nil, usage("%s was changed after it was written", folder)
	}
	if len(r.Rows) != len(p.Rows) {
		return nil, usage("%s has %d rows, its plan %d", folder, len(r.Rows), len(p.Rows))
	}
	for i, row := range p.Rows {
		if what := difference(row.setting(), r.Rows[i].Setting); what != "" {
			return nil, usage("row %d of %s was measured with another %s than its plan has (%s)",
				i+1, folder, what, row.Name())
		}
	}
	return r, nil
}

// difference names a setting that was asked for and is not that of a row; "" if all agree. What runs resolve
// themselves is left out.
func difference(asked, ran record.Setting) string {
	asked.Algorithm, asked.Link, asked.Wire = ran.Algorithm, ran.Link, ran.Wire
	asked.IsLossy, asked.Inexact = ran.IsLossy, ran.Inexact
	asked.Generated, asked.Classes = ran.Generated, ran.Classes
	asked.Threads, asked.Shards = ran.Threads, ran.Shards
	if filepath.IsAbs(asked.Data) && filepath.Base(asked.Data) == filepath.Base(ran.Data) {
		asked.Data = ran.Data // it was given by a relative path
	}
	a, b := reflect.ValueOf(asked), reflect.ValueOf(ran)
	for i := range a.NumField() {
		if a.Field(i).Interface() != b.Field(i).Interface() {
			name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
			return name
		}
	}
	return ""
}

// freeDirectory returns path, or the first of path-2, path-3 and so on that does not exist: what an
// interrupted or a disturbed run has left stays.
func freeDirectory(path string) string {
	free := path
	for i := 2; ; i++ {
		if _, err := os.Lstat(free); errors.Is(err, os.ErrNotExist) {
			return free
		}
		free = fmt.Sprintf("%s-%d", path, i)
	}
}
