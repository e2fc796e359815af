//go:build cuda && linux

package dnn

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// origin is a graph with the configurations of engines for it. The plans made from it share it; the last one
// that is closed frees it.
type origin struct {
	builder
	users int
}

func (o *origin) drop() {
	if o.users--; o.users == 0 {
		o.free()
	}
}

// query says what plans are wanted.
type query struct {
	library        *Library
	conv           Conv
	pass           Pass
	in, out        DType
	tf32           bool
	workspaceLimit int64
}

// candidate is the configuration of an engine, and its name.
type candidate struct {
	configuration descriptor
	name          string
}

// plans returns plans with at most limit engines, only those of the name if it is not empty.
func (q query) plans(limit int, name string) (plans []*Plan, err error) {
	o := &origin{builder{library: q.library}, 1}
	q.library.device.Do(func() {
		defer o.drop()
		graph := o.graph(q.conv, q.pass, q.in, q.out)
		if err = o.err; err == nil {
			plans, err = q.collect(o, graph, limit, name)
		}
	})
	if err != nil {
		err = fmt.Errorf("%w: %v of %v from %v to %v, tf32 %t", err, q.pass, q.conv, q.in, q.out, q.tf32)
	}
	return plans, err
}

// collect makes the plans. The error is that of the last candidate if there is no plan.
func (q query) collect(o *origin, graph descriptor, limit int, name string) (plans []*Plan, err error) {
	last := errors.New("no candidates")
	modes := []int32{modeA, modeFallback}
	if limit > 1 || name != "" {
		modes = []int32{modeA, modeB, modeFallback} // B takes long
	}
	if q.in != q.out {
		// What the fallback has for mixed types is compiled at run time and leaves most of the device idle.
		modes = modes[:len(modes)-1]
	}
	candidates := q.candidates(o, graph, modes, &last)
	for _, c := range candidates {
		if len(plans) == limit {
			break
		}
		if !c.is(name) {
			continue
		}
		p, err := q.plan(o, c)
		if err != nil {
			last = err
			continue
		}
		plans = append(plans, p)
	}
	if len(plans) == 0 {
		return nil, fmt.Errorf("%w (%v)", ErrUnsupported, last)
	}
	return plans, nil
}

// is reports whether c has the name, which may lack the knobs or be empty.
func (c candidate) is(name string) bool {
	return name == "" || c.name == name || strings.HasPrefix(c.name, name+",")
}

// candidates returns what modes of the heuristic propose, without repetitions, as far as the arithmetic
// is that of the query. What cannot be had is noted in last.
func (q query) candidates(o *origin, graph descriptor, modes []int32, last *error) []candidate {
	skip := []int32{noteNondeterministic, noteReducedPrecision}
	if q.in == F32 && !q.tf32 {
		skip = append(skip, noteTensorCore, noteDownConvert)
	}
	var found []candidate
	for _, mode := range modes {
		for _, configuration := range o.ranked(graph, mode) {
			name, err := q.library.acceptable(configuration, skip)
			switch {
			case err != nil:
				*last = err
			case !slices.ContainsFunc(found, func(c candidate) bool { return c.name == name }):
				found = append(found, candidate{configuration, name})
			}
		}
		if o.err != nil {
			*last, o.err = o.err, nil // the next mode may do better
		}
	}
	return found
}

// acceptable returns the name of a configuration; an error if its engine has a note to skip.
func (l *Library) acceptable(configuration descriptor, skip []int32) (string, error) {
	parts := builder{library: l}
	defer parts.free()
	engine := [1]descriptor{parts.empty(kindEngine)}
	if parts.err != nil {
		return "", parts.err
	}
	_, status := read(l.f.get, configuration, configurationEngine, typeDescriptor, engine[:])
	if err := l.check("cudnnBackendGetAttribute", status); err != nil {
		return "", err
	}
	notes := make([]int32, numNotes)
	count, status := read(l.f.get, engine[0], engineNotes, typeNote, notes)
	if err := l.check("cudnnBackendGetAttribute", status); err != nil {
		return "", err
	}
	name := parts.describe(configuration, engine[0])
	for _, note := range notes[:min(count, numNotes)] {
		if slices.Contains(skip, note) {
			return "", fmt.Errorf("dnn: %s has note %d", name, note)
		}
	}
	return name, nil
}

// plan makes the plan of a candidate, unless it needs too much workspace.
func (q query) plan(o *origin, c candidate) (*Plan, error) {
	l := q.library
	made := builder{library: l}
	plan := made.build(kindPlan,
		one(planHandle, typeHandle, l.handle),
		one(planConfiguration, typeDescriptor, c.configuration))
	bytes := make([]int64, 1)
	if made.err == nil {
		_, status := read(l.f.get, plan, planWorkspace, typeInt64, bytes)
		made.err = l.check("cudnnBackendGetAttribute", status)
	}
	if made.err == nil && bytes[0] > q.workspaceLimit {
		made.err = fmt.Errorf("dnn: workspace of %d bytes, allowed are %d", bytes[0], q.workspaceLimit)
	}
	if made.err != nil {
		made.free()
		return nil, made.err
	}
	o.users++
	return &Plan{library: l, conv: q.conv, pass: q.pass, name: c.name, workspaceBytes: bytes[0], origin: o,
		plan: plan, ids: [3]int64{idX, idY, idW}}, nil
}

// ranked returns the configurations of engines that the heuristic proposes, the best first.
func (b *builder) ranked(graph descriptor, mode int32) []descriptor {
	heuristic := b.build(kindHeuristic,
		one(heuristicGraph, typeDescriptor, graph),
		one(heuristicMode, typeHeuristic, mode))
	if b.err != nil {
		return nil
	}
	get := b.library.f.get
	count, status := read[descriptor](get, heuristic, heuristicResults, typeDescriptor, nil)
	if b.err = b.library.check("cudnnBackendGetAttribute", status); b.err != nil || count == 0 {
		return nil
	}
	found := make([]descriptor, count)
	for i := range found {
		found[i] = b.empty(kindConfiguration)
	}
	if b.err != nil {
		return nil
	}
	count, status = read(get, heuristic, heuristicResults, typeDescriptor, found)
	if b.err = b.library.check("cudnnBackendGetAttribute", status); b.err != nil {
		return nil
	}
	return found[:min(count, len(found))]
}

// maxKnobs is at least the number of knobs of any engine.
const maxKnobs = 64

// describe returns the engine's number and its knobs, such as "engine 42, knobs 2=1 14=3". What cannot be
// read is left out.
func (parts *builder) describe(configuration, engine descriptor) string {
	get := parts.library.f.get
	index := make([]int64, 1)
	read(get, engine, engineIndex, typeInt64, index)
	var text strings.Builder
	fmt.Fprintf(&text, "engine %d", index[0])
	knobs := make([]descriptor, maxKnobs)
	for i := range knobs {
		knobs[i] = parts.empty(kindKnobChoice)
	}
	count, status := read(get, configuration, configurationKnobs, typeDescriptor, knobs)
	if status != 0 || parts.err != nil || count == 0 {
		return text.String()
	}
	text.WriteString(", knobs")
	for _, knob := range knobs[:min(count, maxKnobs)] {
		kind, value := make([]int32, 1), make([]int64, 1)
		read(get, knob, knobType, typeKnob, kind)
		read(get, knob, knobValue, typeInt64, value)
		fmt.Fprintf(&text, " %d=%d", kind[0], value[0])
	}
	return text.String()
}
