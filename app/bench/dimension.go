package bench

import (
	"cmp"
	"slices"
	"strings"

	"lockstep/app/setting"
)

// Dimension is a setting of which the rows of a matrix have several values.
type Dimension struct {
	Name   string   // of the setting
	Values []string // as the setting takes them; "": the value of the base
}

// Checkpoints returns the dimension of rows with and without checkpoints: "off", "on", which is one every
// checkpointSteps steps, or what --checkpoint-every takes.
func Checkpoints(values []string) Dimension {
	d := Dimension{Name: "checkpoint-every"}
	for _, v := range values {
		switch v {
		case "off":
			v = ""
		case "on":
			v = checkpointSteps
		}
		d.Values = append(d.Values, v)
	}
	return d
}

// checkpointSteps is how many steps lie between checkpoints that are only asked to be on.
const checkpointSteps = "10"

// variations returns the settings by which the rows of a strategy differ, as options of a way: one for each
// combination of the dimensions. A dimension of one value is in all rows and none of their names,
// but for tellApart.
func (p Part) variations() []string {
	out := []string{""}
	for _, d := range p.Dimensions {
		var next []string
		for _, one := range out {
			for _, v := range d.Values {
				if v == "" {
					next = append(next, one)
					continue
				}
				next = append(next, joined(one, d.Name+"="+v))
			}
		}
		out = next
	}
	return out
}

// joined joins options of a way.
func joined(options ...string) string {
	return strings.Join(slices.DeleteFunc(options, func(o string) bool { return o == "" }), "+")
}

// checkDimensions refuses dimensions without values or with one twice.
func (p Part) checkDimensions() error {
	for _, d := range p.Dimensions {
		if len(d.Values) == 0 {
			return usage("%s: no value", d.Name)
		}
		var values []string
		for _, v := range d.Values {
			values = append(values, cmp.Or(v, "off"))
		}
		if err := once(d.Name+":", values); err != nil {
			return err
		}
	}
	for _, n := range p.Threads {
		if n < 1 {
			return usage("threads %d: want 1 or more", n)
		}
	}
	if len(p.PerWorker) > 0 && len(p.Batches) > 0 {
		return usage("a matrix has either batches or batches per worker: strong and weak scaling are " +
			"different questions; want two parts of a plan")
	}
	return nil
}

// settle gives base the values of the dimensions that have one, and returns the part without them.
func (p Part) settle() (Part, error) {
	var open []Dimension
	for _, d := range p.Dimensions {
		if len(d.Values) > 1 {
			open = append(open, d)
			continue
		}
		if d.Values[0] == "" {
			continue
		}
		var err error
		value := setting.Value{Name: d.Name, Text: d.Values[0], Where: d.Name}
		if p.Base, err = p.Base.With([]setting.Value{value}); err != nil {
			return p, err
		}
	}
	p.Dimensions = open
	return p, nil
}

// batch returns the batch of a row and its part for each worker if that is given.
func (r Row) batch(workers int) Row {
	if r.PerWorker > 0 {
		r.Batch = r.PerWorker * workers
		r.Shards = cmp.Or(r.Shards, workers)
	}
	return r
}
