package bench

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"lockstep/app/analysis"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/internal/regular"
)

// Contradictions lists what results, which c compares, say against themselves and against what their runs
// have left in the folder of the benchmark.
func Contradictions(folder string, r *record.Results, c *analysis.Comparison) ([]string, error) {
	var wrong []string
	for _, n := range c.Contradictions() {
		wrong = append(wrong, n.Text)
	}
	other, err := CheckKept(folder, r)
	if other != "" {
		wrong = append(wrong, other)
	}
	return wrong, err
}

// CheckKept compares what runs have left in the folder of a benchmark with its results: the steps, the
// summary, the configuration and the machine. It says in which file and place the first difference is; "" if
// there is none. Runs whose files are not there are not compared. The error tells of the first file that
// cannot be opened; the others are compared.
func CheckKept(folder string, r *record.Results) (first string, failed error) {
	for i := range r.Rows {
		row := &r.Rows[i]
		for _, run := range slices.Concat(row.Runs, row.Replaced) {
			where := filepath.FromSlash(run.Directory)
			if run.Error != "" || !filepath.IsLocal(where) {
				continue
			}
			text, err := checkRun(folder, where, row, &run)
			if text == "" && row.Setting.Peer == "" {
				other, unread := otherOutcome(filepath.Join(folder, where), &run, machines(r))
				text, err = other, cmp.Or(err, unread)
			}
			failed = cmp.Or(failed, err)
			if text != "" {
				return fmt.Sprintf("Row %d, round %d: %s/%s.", i+1, run.Round+1, filepath.ToSlash(where),
					text), failed
			}
		}
	}
	return "", failed
}

// checkRun compares the steps that a run has left.
func checkRun(folder, where string, row *record.Row, run *record.Run) (string, error) {
	f, err := regular.Open(filepath.Join(folder, where, rundir.StepsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("bench: raw samples: %w", err)
	}
	defer f.Close()
	if n := row.Setting.Workers; n != len(run.Ranks) { // which are read, and so are no more than there can be
		return fmt.Sprintf("%s: the row has %d workers, and the results tell of %d ranks",
			rundir.StepsFile, n, len(run.Ranks)), nil
	}
	kept, err := readSteps(f, row.Setting.Workers, strategy.Named(row.Setting.Strategy).IsAsync)
	if err != nil {
		return fmt.Sprintf("%s: it cannot be read (%v), and the results have its steps", rundir.StepsFile,
			err), nil
	}
	if text := otherSteps(kept, run.Ranks); text != "" {
		return rundir.StepsFile + ": " + text, nil
	}
	return "", nil
}

// machines returns those of all sittings.
func machines(r *record.Results) []record.Machine {
	out := []record.Machine{r.Host}
	for _, s := range r.Sittings {
		out = append(out, s.Host)
	}
	return out
}

// otherSteps names the first step of which files tell something else than results. Samples of workers that
// exchange nothing in a step are those of each in files, and the sum in results.
func otherSteps(kept, told []record.Rank) string {
	if len(kept) != len(told) {
		return fmt.Sprintf("it is of %d ranks, the results of %d", len(kept), len(told))
	}
	own := make([][]int, len(kept))
	for i, rank := range kept {
		if a, b := len(rank.Steps.Seconds), len(told[i].Steps.Seconds); a != b {
			return fmt.Sprintf("it has %d steps of rank %d, the results %d", a, i, b)
		}
		own[i] = slices.Clone(rank.Steps.Samples)
	}
	isEven := !slices.ContainsFunc(own, func(s []int) bool { return len(s) != len(own[0]) })
	if isEven {
		addShares(kept)
	}
	for i, rank := range kept {
		for step, v := range rank.Steps.Seconds {
			seconds, samples := told[i].Steps.Seconds[step], told[i].Steps.Samples[step]
			switch {
			case isOther(v, seconds):
				return fmt.Sprintf("step %d of rank %d took %g s, and %g s by the results", step+1, i, v,
					seconds)
			case samples != own[i][step] && samples != rank.Steps.Samples[step]:
				return fmt.Sprintf("step %d of rank %d trained on %d samples, and on %d by the results",
					step+1, i, own[i][step], samples)
			}
		}
		if text := otherFigures(i, rank.Steps, told[i].Steps); text != "" {
			return text
		}
	}
	return ""
}

// isOther reports whether two figures differ; two that are no numbers do not.
func isOther(a, b float64) bool { return a != b && !(math.IsNaN(a) && math.IsNaN(b)) }

// otherFigures names the first figure of a rank's steps, besides times and samples, of which a file tells
// something else than results. What older results do not hold is not compared.
func otherFigures(rank int, kept, told record.Steps) string {
	columns := map[string][2]record.Numbers{"loss": {kept.Loss, told.Loss},
		"loss of its own": {kept.OwnLoss, told.OwnLoss}, "watched time": {kept.Usage, told.Usage},
		"processor time": {kept.CPU, told.CPU}, "memory": {kept.RSS, told.RSS},
		"memory of the GPU":        {kept.GPU, told.GPU},
		"number of bytes sent":     {kept.Sent, told.Sent},
		"number of bytes received": {kept.Received, told.Received},
		"number of shards":         {numbers(kept.Shards), numbers(told.Shards)},
		"epoch":                    {numbers(kept.Epoch), numbers(told.Epoch)}}
	for name, values := range told.Phases {
		columns["phase "+name] = [2]record.Numbers{kept.Phases[name], values}
	}
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		kept, told := columns[name][0], columns[name][1]
		for step := range min(len(kept), len(told)) {
			if a, b := kept[step], told[step]; isOther(a, b) {
				return fmt.Sprintf("step %d of rank %d has a %s of %g, and of %g by the results", step+1,
					rank, name, a, b)
			}
		}
	}
	return ""
}

// numbers returns whole numbers as figures.
func numbers(of []int) record.Numbers {
	out := make(record.Numbers, len(of))
	for i, v := range of {
		out[i] = float64(v)
	}
	return out
}

// otherOutcome says if the files of a run tell something else than results of what it did, took and reached,
// with which settings and by which machine. The error is of a file that cannot be opened.
func otherOutcome(folder string, run *record.Run, known []record.Machine) (string, error) {
	var failed error
	for _, f := range []struct {
		name  string
		other func(path string) (string, error)
	}{
		{rundir.SummaryFile, func(path string) (string, error) { return otherSummary(path, run) }},
		{rundir.ConfigFile, func(path string) (string, error) { return otherSettings(path, run.Config) }},
		{rundir.HostFile, func(path string) (string, error) { return otherMachine(path, known) }},
	} {
		text, err := f.other(filepath.Join(folder, f.name))
		failed = cmp.Or(failed, err)
		if text != "" {
			return f.name + ": " + text, failed
		}
	}
	return "", failed
}

// otherSummary says if the summary of a run tells something else than results.
func otherSummary(path string, run *record.Run) (string, error) {
	var s record.Summary
	if isThere, text, err := readKept(path, &s); !isThere || text != "" {
		return text, err
	}
	for _, one := range []struct {
		name       string
		kept, told any
	}{
		{"", s.Outcome, run.Outcome},
		{"evaluations", s.Evaluations, run.Evaluations},
		{"checkpoints", s.Checkpoints, run.Checkpoints},
		{"train_seconds", s.TrainSeconds, run.TrainSeconds},
		{"busiest_bytes", s.BusiestBytes, run.BusiestBytes},
		{"server_bytes", s.ServerBytes, run.ServerBytes},
		{"bytes_vectors", s.BytesVectors, run.BytesVectors},
	} {
		if place, kept, told := difference(tree(one.kept), tree(one.told)); kept != told {
			return otherText(one.name+place, kept, told), nil
		}
	}
	gpus, gpusTold := gpusOf(&s, run)
	for _, rank := range slices.Sorted(maps.Keys(gpus)) {
		if place, kept, told := difference(tree(gpus[rank]), tree(gpusTold[rank])); kept != told {
			return otherText(fmt.Sprintf("ranks[%d].gpu%s", rank, place), kept, told), nil
		}
	}
	return "", nil
}

// otherText words that a place of a summary is not what results tell.
func otherText(place, kept, told string) string {
	return fmt.Sprintf("its %s is %.100s, and %.100s by the results", strings.TrimPrefix(place, "."), kept,
		told)
}

// tree returns a value as JSON has it. It was read from JSON.
func tree(v any) (t any) {
	text, err := json.Marshal(v)
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber() // no digit is lost
		err = d.Decode(&t)
	}
	if err != nil {
		return err.Error()
	}
	return t
}

// difference returns the place of the first difference between two values of JSON, such as .taken.seconds,
// and what they have there; two empty texts if they are equal.
func difference(a, b any) (place, left, right string) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			all := maps.Clone(x)
			maps.Copy(all, y)
			for _, name := range slices.Sorted(maps.Keys(all)) {
				if place, left, right = difference(x[name], y[name]); left != right {
					return "." + name + place, left, right
				}
			}
			return "", "", ""
		}
	case []any:
		if y, ok := b.([]any); ok {
			for i := range min(len(x), len(y)) {
				if place, left, right = difference(x[i], y[i]); left != right {
					return fmt.Sprintf("[%d]%s", i, place), left, right
				}
			}
			if len(x) != len(y) {
				return "", fmt.Sprintf("a list of %d", len(x)), fmt.Sprintf("one of %d", len(y))
			}
			return "", "", ""
		}
	}
	left, right = plainText(a), plainText(b)
	if left == right {
		return "", "", ""
	}
	return "", left, right
}

// plainText returns a value of JSON as text.
func plainText(v any) string {
	if v == nil {
		return "not told"
	}
	text, _ := json.Marshal(v)
	return string(text)
}

// gpusOf returns the GPU of each rank by a summary and by results, if one of them has it; nil: the processor
// computed.
func gpusOf(s *record.Summary, run *record.Run) (kept, told map[int]*record.RankGPU) {
	kept, told = map[int]*record.RankGPU{}, map[int]*record.RankGPU{}
	for _, r := range run.Ranks {
		if r.GPU != nil {
			kept[r.Rank], told[r.Rank] = nil, r.GPU
		}
	}
	for _, r := range s.Ranks {
		if r.GPU != nil {
			kept[r.Rank] = r.GPU
		}
	}
	return kept, told
}

// otherSettings says if a run was configured otherwise than results tell. Only settings that a run takes as
// they are given are compared.
func otherSettings(path string, told json.RawMessage) (string, error) {
	var was, is map[string]any // in the file, and by the results
	f, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("bench: configuration of a run: %w", err)
	}
	f.Close()
	c, err := setting.ReadFile(path)
	if err != nil || json.Unmarshal(told, &is) != nil { // of another version
		return "", nil
	}
	kept, err := json.Marshal(c)
	if err != nil || json.Unmarshal(kept, &was) != nil {
		return "", nil
	}
	for _, name := range []string{"model", "size", "workers", "servers", "batch", "steps", "epochs", "seed",
		"optimizer", "lr", "momentum", "limit-train", "limit-test", "math"} {
		if a, b := was[name], is[name]; a != nil && b != nil && a != b {
			return fmt.Sprintf("it has %s %v, and %v by the results", name, a, b), nil
		}
	}
	return "", nil
}

// otherMachine says if a run was on none of the machines of the results, one of which has its machine's name.
func otherMachine(path string, known []record.Machine) (string, error) {
	var h record.RunHost
	if isThere, text, err := readKept(path, &h); !isThere || text != "" {
		return text, err
	}
	if h.Preflight != nil || h.Lab != "" {
		return "", nil
	}
	isNamed := func(m record.Machine) bool { return m.Name != "" && m.Name == h.Name }
	isSame := func(m record.Machine) bool {
		return m.CPU == h.CPU && m.Cores == h.UsableCores && m.MemoryBytes == h.MemoryBytes &&
			m.Kernel == h.Kernel && m.OS == h.OS && m.Arch == h.Arch
	}
	if !slices.ContainsFunc(known, isNamed) || slices.ContainsFunc(known, isSame) {
		return "", nil
	}
	return fmt.Sprintf("the machine is %s, %d cores, %d bytes of memory, and by the results %s, %d cores, "+
		"%d bytes", h.CPU, h.UsableCores, h.MemoryBytes, known[0].CPU, known[0].Cores,
		known[0].MemoryBytes), nil
}

// readKept reads a file that a run has left. The text says that its content cannot be read.
func readKept(path string, into any) (isThere bool, text string, err error) {
	f, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, "", nil
	}
	if err != nil {
		return false, "", fmt.Errorf("bench: what a run has left: %w", err)
	}
	defer f.Close()
	if err := record.ReadJSON(f, into); err != nil {
		return true, fmt.Sprintf("it cannot be read (%.200v), and the results tell of it", err), nil
	}
	return true, "", nil
}
