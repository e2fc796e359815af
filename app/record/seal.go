package record

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

// A seal is the SHA-256 of values: of a run, of everything else that results hold, or of a summary. It is
// taken over the values and not over the text, so that a file may be indented or have its fields in another
// order, and without those that are zero, so that fields which later versions add do not change it.

// TakeSeal gives the results, and every run that has none, the seal that their file has. What changes in them
// afterwards contradicts it. A run keeps its first seal: what becomes of it later is found by
// [Results.Broken].
func (r *Results) TakeSeal() {
	for i := range r.Rows {
		for _, runs := range [][]Run{r.Rows[i].Runs, r.Rows[i].Replaced} {
			for j := range runs {
				if runs[j].Seal == "" {
					runs[j].Seal = runs[j].sum()
				}
			}
		}
	}
	r.Seal = r.sum()
}

// Unseal removes the seal of the results, to which runs will be added.
func (r *Results) Unseal() { r.Seal, r.isRead = "", false }

// maxBroken is how many runs Broken tells of.
const maxBroken = 8

// Broken lists what has another seal than its content, one sentence each: it was changed after it was
// written. So was a file in which some seals are missing. One without any, as older versions wrote them, is
// not listed.
func (r *Results) Broken() []string {
	var out []string
	for i := range r.Rows {
		row := &r.Rows[i]
		for _, run := range slices.Concat(row.Runs, row.Replaced) {
			if what := r.breaks(&run); what != "" {
				out = append(out, fmt.Sprintf("Row %d (%s %d×%d), round %d: %s", i+1, row.Setting.Strategy,
					row.Setting.Workers, row.Setting.Threads, run.Round+1, what))
			}
		}
	}
	if more := len(out) - maxBroken; more > 0 {
		out = append(out[:maxBroken], fmt.Sprintf("%d more runs of this kind.", more))
	}
	if r.Seal != "" && r.Seal != r.sum() {
		out = append(out, "The seal of the results is not that of what they hold: the settings of a row, "+
			"the machine, the command, the number of rounds or the list of runs was changed.")
	}
	return out
}

// breaks says what is wrong with the seal of a run; "" if nothing is.
func (r *Results) breaks(run *Run) string {
	switch {
	case r.isRead && run.Seal == "" && r.Seal != "":
		return "it has no seal, and the results do: its seal was removed."
	case r.isRead && run.Seal != "" && r.Seal == "":
		return "it has a seal, and the results have none: theirs was removed."
	case run.Seal != "" && run.Seal != run.sum():
		return "its seal is not that of its figures: some of them were changed, added or removed."
	}
	return ""
}

// TakeSeal gives the summary the seal of what it holds.
func (s *Summary) TakeSeal() { s.Seal = s.sum() }

// Broken says, in a sentence without its subject, that the summary was changed after it was sealed; "" if it
// was not, or if it has neither a seal nor a hash of steps, which older versions did not write.
func (s *Summary) Broken() string {
	switch {
	case s.Seal == "" && s.StepsSHA256 != "":
		return "has the hash of steps.jsonl and no seal: its seal was removed."
	case s.Seal != "" && s.Seal != s.sum():
		return "has a seal that is not that of what it holds: some of it was changed, added or removed."
	}
	return ""
}

// Contradicts says which files of the ended run were changed after its end: the summary by its seal, and
// steps.jsonl by its SHA-256 now. That is "" if it is not known or not there: steps that were removed
// altogether, as to make room, tell nothing that is not so.
func (s *Summary) Contradicts(stepsSHA256 string) (out []string) {
	if text := s.Broken(); text != "" {
		out = append(out, "summary.json "+text)
	}
	if s.StepsSHA256 != "" && stepsSHA256 != "" && stepsSHA256 != s.StepsSHA256 {
		out = append(out, fmt.Sprintf("steps.jsonl has the SHA-256 %.12s…, and had %.12s… at the end of "+
			"the run: some of its lines were changed, added or removed.", stepsSHA256, s.StepsSHA256))
	}
	return out
}

// sum returns the seal of the summary.
func (s *Summary) sum() string { return sumOf(*s) }

// sum returns the seal of a run.
func (r *Run) sum() string { return sumOf(*r) }

// sumOf returns the SHA-256 of some values.
func sumOf(values ...any) string {
	d := digest{sha256.New()}
	for _, v := range values {
		d.value(reflect.ValueOf(v))
	}
	return hex.EncodeToString(d.Sum(nil))
}

// sum returns the seal of the results, in which the seals of runs stand for the runs.
func (r *Results) sum() string {
	outer := *r
	outer.Rows = nil
	values := []any{outer}
	for _, row := range r.Rows {
		var seals []string
		for _, runs := range [][]Run{row.Runs, row.Replaced} {
			seals = append(seals, fmt.Sprint(len(runs)))
			for _, run := range runs {
				seals = append(seals, run.Seal)
			}
		}
		row.Runs, row.Replaced = nil, nil
		values = append(values, row, seals)
	}
	return sumOf(values...)
}

// digest adds values to a hash.
type digest struct{ hash.Hash }

// text adds a string with its length. Bytes that are no UTF-8 become what JSON makes of them.
func (d digest) text(s string) {
	s = string([]rune(s))
	d.number(uint64(len(s)))
	d.Write([]byte(s))
}

func (d digest) number(v uint64) { d.Write(binary.LittleEndian.AppendUint64(nil, v)) }

// list adds numbers, each as 64 bits.
func list[T any](d digest, all []T, bits func(T) uint64) {
	b := make([]byte, 0, 8*len(all))
	for _, v := range all {
		b = binary.LittleEndian.AppendUint64(b, bits(v))
	}
	d.number(uint64(len(all)))
	d.Write(b)
}

// numbers adds a list; what is no number is the same in JSON, whatever it is.
func (d digest) numbers(all []float64) {
	list(d, all, func(v float64) uint64 {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			v = math.NaN()
		}
		return math.Float64bits(v)
	})
}

// value adds any value of which results are made. It panics on a kind that they do not have.
func (d digest) value(v reflect.Value) {
	switch x := v.Interface().(type) {
	case time.Time:
		d.number(uint64(x.UnixNano()))
		return
	case Numbers:
		d.numbers(x)
		return
	case []int:
		list(d, x, func(v int) uint64 { return uint64(v) })
		return
	case json.RawMessage:
		var parsed any
		if json.Unmarshal(x, &parsed) != nil {
			parsed = string(x)
		}
		d.parsed(parsed)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.fields(v)
	case reflect.Pointer, reflect.Interface:
		d.value(v.Elem())
	case reflect.Slice, reflect.Array:
		d.number(uint64(v.Len()))
		for i := range v.Len() {
			d.element(v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		d.number(uint64(len(keys)))
		for _, k := range keys {
			d.text(k.String())
			d.element(v.MapIndex(k))
		}
	case reflect.String:
		d.text(v.String())
	case reflect.Bool:
		d.text(fmt.Sprint(v.Bool()))
	default:
		d.scalar(v)
	}
}

// scalar adds a number.
func (d digest) scalar(v reflect.Value) {
	switch {
	case v.CanFloat():
		d.numbers([]float64{v.Float()})
	case v.CanInt():
		d.number(uint64(v.Int()))
	case v.CanUint():
		d.number(v.Uint())
	default:
		panic("record: seal: a value of type " + v.Type().String())
	}
}

// element adds what a list or a map holds, which may be no pointer.
func (d digest) element(v reflect.Value) {
	if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil() {
		d.text("null")
		return
	}
	d.value(v)
}

// fields adds the fields of a struct that are not zero, by the names that they have in a file. Lists without
// an element are as good as none.
func (d digest) fields(v reflect.Value) {
	for i := range v.NumField() {
		field, one := v.Type().Field(i), v.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		isList := one.Kind() == reflect.Slice || one.Kind() == reflect.Map
		isEmpty := one.IsZero() || isList && one.Len() == 0
		switch {
		case name == "seal" || name == "-" || isEmpty:
		case field.Anonymous:
			d.fields(one)
		default:
			d.text(name)
			d.value(one)
		}
	}
	d.text("")
}

// parsed adds what JSON without a type of its own holds.
func (d digest) parsed(v any) {
	switch x := v.(type) {
	case map[string]any:
		d.number(uint64(len(x)))
		for _, k := range slices.Sorted(maps.Keys(x)) {
			d.text(k)
			d.parsed(x[k])
		}
	case []any:
		d.number(uint64(len(x)))
		for _, one := range x {
			d.parsed(one)
		}
	case float64:
		d.numbers([]float64{x})
	default:
		d.text(fmt.Sprintf("%T %v", x, x))
	}
}
