package checkpoint

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/graph"
	"lockstep/tensor"
)

// LoadOptions says how a file may differ from the network.
type LoadOptions struct {
	// FreshHead is for fine-tuning. The head is the layer that declares graph.RoleHead. It keeps
	// its values, and so does a layer of Optional that the file lacks. The file may contain other heads:
	// tensors whose first name no tensor of the network's body has.
	FreshHead bool
	// Optional lists layers below the head, such as "bert.pooler.dense", that files for other tasks lack.
	Optional []string
}

// Loaded is the result of Load.
type Loaded struct {
	// Tensors is the number of the network's tensors that were read.
	Tensors int
	// Fresh lists the network's tensors that kept their values.
	Fresh []string
	// Unused lists the file's tensors that belong to other heads.
	Unused []string
	// Prefix is what the names of all of the file's tensors begin with besides those of the network.
	Prefix string
	// Batches is the largest num_batches_tracked of the file, 0 if there is none.
	Batches int64
}

// Load copies r's tensors to v's parameters and states of the same name, rounded to float32.
//
// Names are compared without what all names of the file, or of the network, begin with: programs that wrap
// a network write "module." or "_orig_mod." before each. They are also compared without the prefix "bert.",
// which Hugging Face's BERT has only below a classifier, and with the old LayerNorm.gamma and LayerNorm.beta
// read as weight and bias. Only the count of num_batches_tracked is used; position_ids are constant and
// ignored.
//
// Errors: *MatchError if tensors are missing, surplus or misshapen; *FormatError at a value that is
// not finite; *ReadError. After a *MatchError v is unchanged; after another error it may hold some
// of the file's values.
func Load(r *Reader, v *graph.Variables, o LoadOptions) (*Loaded, error) {
	m := newMatcher(r, v, o)
	if err := m.index(); err != nil {
		return nil, err
	}
	m.match(v)
	if err := m.decide(); err != nil {
		return nil, err
	}
	for _, p := range m.pairs {
		if err := m.copy(v, p); err != nil {
			return nil, err
		}
	}
	return m.loaded, nil
}

// Weight returns the file's tensor for the parameter called name of a network with these parameters, which is
// compared as [Load] does, and false if there is none.
func (r *Reader) Weight(name string, parameters []string) (Tensor, bool) {
	theirs, want := r.prefix(), modern(strings.TrimPrefix(name, commonPrefix(parameters)))
	for _, t := range r.Tensors {
		if modern(strings.TrimPrefix(t.Name, theirs)) == want {
			return t, true
		}
	}
	return Tensor{}, false
}

// bertPrefix is what Hugging Face's BERT has before the names of its body.
const bertPrefix = "bert."

// prefix returns what all of the file's names begin with.
func (r *Reader) prefix() string {
	names := make([]string, len(r.Tensors))
	for i, t := range r.Tensors {
		names[i] = t.Name
	}
	return commonPrefix(names)
}

// commonPrefix returns the whole parts, with their dots, that all names begin with: "module." of module.a.w
// and module.b.w. The last part but one remains, at least of some name, as does bertPrefix.
func commonPrefix(names []string) string {
	if len(names) == 0 {
		return ""
	}
	prefix, rest := "", names[0]
	for {
		part, after, isMore := strings.Cut(rest, ".")
		next, depth := prefix+part+".", 0
		for _, name := range names {
			if !strings.HasPrefix(name, next) {
				return strings.TrimSuffix(prefix, bertPrefix)
			}
			depth = max(depth, strings.Count(name[len(next):], "."))
		}
		if !isMore || depth == 0 {
			return strings.TrimSuffix(prefix, bertPrefix)
		}
		prefix, rest = next, after
	}
}

// layerOf returns the part of a name before the last dot.
func layerOf(name string) string { return name[:max(0, strings.LastIndexByte(name, '.'))] }

// first returns the part of a name before the first dot.
func first(name string) string {
	part, _, _ := strings.Cut(name, ".")
	return part
}

// modern returns the name by which tensors are compared.
func modern(name string) string {
	name = strings.TrimPrefix(name, bertPrefix)
	if layer, ok := strings.CutSuffix(name, ".gamma"); ok {
		return layer + ".weight"
	}
	if layer, ok := strings.CutSuffix(name, ".beta"); ok {
		return layer + ".bias"
	}
	return name
}

// Names in PyTorch's state_dict of tensors that are not weights.
const (
	batchCount  = "num_batches_tracked"
	positionIDs = "position_ids"
)

// matcher compares a file's tensors with a network's.
type matcher struct {
	r        *Reader
	options  LoadOptions
	theirs   string         // what all names of the file begin with
	ours     string         // what all names of the network begin with
	byName   map[string]int // of r.Tensors, by the name that is compared
	layers   map[string]bool
	used     map[int]bool
	head     string          // layer whose outputs are the classes; "": none has declared it
	body     map[string]bool // first names of the network's tensors outside the head
	pairs    []pair
	fresh    []pair // tensors, misshapen or not in the file, that keep their values if FreshHead says so
	mismatch *MatchError
	loaded   *Loaded
}

// pair is a tensor of the network, and its counterpart in the file.
type pair struct {
	tensor  Tensor
	name    string
	isState bool
	number  int // of the parameter or state
}

// newMatcher returns a matcher of r and v that has compared nothing yet.
func newMatcher(r *Reader, v *graph.Variables, o LoadOptions) *matcher {
	m := &matcher{r: r, options: o, theirs: r.prefix(), byName: map[string]int{}, layers: map[string]bool{},
		used: map[int]bool{}, body: map[string]bool{}, mismatch: &MatchError{File: r.Path},
		loaded: &Loaded{}}
	var names []string
	for _, p := range v.Params {
		names = append(names, p.Name)
	}
	for _, s := range v.States {
		names = append(names, s.Name)
	}
	m.ours = commonPrefix(names)
	m.loaded.Prefix = strings.TrimSuffix(m.theirs, m.ours)
	for _, p := range v.Params {
		if p.Role == graph.RoleHead && m.head == "" {
			m.head = layerOf(m.own(p.Name))
		}
	}
	return m
}

// own returns the name by which a tensor of the network is compared.
func (m *matcher) own(name string) string { return modern(strings.TrimPrefix(name, m.ours)) }

// index lists the file's weights by the names by which they are compared.
func (m *matcher) index() error {
	for i, t := range m.r.Tensors {
		switch last := t.Name[strings.LastIndexByte(t.Name, '.')+1:]; {
		case last == positionIDs:
			continue
		case last == batchCount && t.DType == I64 && t.Bytes == 8:
			err := m.r.values(t, func(x float64) error {
				m.loaded.Batches = max(m.loaded.Batches, int64(x))
				return nil
			})
			if err != nil {
				return err
			}
			continue
		}
		name := m.named(t)
		if other, isThere := m.byName[name]; isThere {
			return &FormatError{File: t.file.path, Offset: -1, Tensor: t.Name, Reason: "the same " +
				"weight as " + quote(m.r.Tensors[other].Name) + " under an older name"}
		}
		m.byName[name], m.layers[layerOf(name)] = i, true
	}
	return nil
}

// named returns the name by which a tensor of the file is compared.
func (m *matcher) named(t Tensor) string { return modern(strings.TrimPrefix(t.Name, m.theirs)) }

// match finds the counterpart of each of v's tensors.
func (m *matcher) match(v *graph.Variables) {
	for i, p := range v.Params {
		m.find(pair{name: p.Name, number: i}, p.Shape)
	}
	for i, s := range v.States {
		m.find(pair{name: s.Name, number: i, isState: true}, s.Shape)
	}
}

func (m *matcher) find(p pair, want tensor.Shape) {
	name := m.own(p.name)
	isHead := m.head != "" && layerOf(name) == m.head
	if !isHead {
		m.body[first(name)] = true
	}
	i, isThere := m.byName[name]
	if !isThere {
		m.mismatch.Missing = append(m.mismatch.Missing, fmt.Sprintf("%s %v", quote(p.name), want))
	} else {
		m.used[i] = true
		p.tensor = m.r.Tensors[i]
		if t := p.tensor; t.Shape.Equal(want) && t.format.isFloat {
			m.pairs = append(m.pairs, p)
			return
		}
		m.mismatch.Misshapen = append(m.mismatch.Misshapen, fmt.Sprintf("%s: got %s %v, want %v",
			quote(p.name), p.tensor.DType, p.tensor.Shape, want))
	}
	if isHead || m.isOptional(name) && !m.layers[layerOf(name)] {
		m.fresh = append(m.fresh, p)
	}
}

// isOptional reports whether a tensor is of a layer that the file may lack if the head is fresh.
func (m *matcher) isOptional(name string) bool {
	return slices.ContainsFunc(m.options.Optional, func(layer string) bool {
		return m.own(layer) == layerOf(name)
	})
}

// decide collects the surplus tensors and returns the mismatch unless the options allow it.
func (m *matcher) decide() error {
	others := 0
	for i, t := range m.r.Tensors {
		name := m.named(t)
		if at, isWeight := m.byName[name]; !isWeight || at != i || m.used[i] {
			continue
		}
		m.mismatch.Surplus = append(m.mismatch.Surplus, fmt.Sprintf("%s %v", quote(t.Name), t.Shape))
		if m.head != "" && (!m.body[first(name)] || strings.HasPrefix(name, m.head+".")) {
			others++
			m.loaded.Unused = append(m.loaded.Unused, t.Name)
		}
	}
	e := m.mismatch
	faults := len(e.Missing) + len(e.Misshapen) + len(e.Surplus)
	isExcused := faults == len(m.fresh)+others && len(m.pairs) > 0
	if faults > 0 && !(m.options.FreshHead && isExcused) {
		e.OnlyHead = isExcused && !m.options.FreshHead
		return e
	}
	if m.options.FreshHead {
		m.freshenHead()
	}
	m.loaded.Tensors = len(m.pairs)
	return nil
}

// freshenHead removes the head from the pairs: a fresh head takes nothing from the file.
func (m *matcher) freshenHead() {
	m.pairs = slices.DeleteFunc(m.pairs, func(p pair) bool {
		isHead := m.head != "" && layerOf(m.own(p.name)) == m.head
		if isHead {
			m.fresh = append(m.fresh, p)
			m.loaded.Unused = append(m.loaded.Unused, p.tensor.Name)
		}
		return isHead
	})
	for _, p := range m.fresh {
		m.loaded.Fresh = append(m.loaded.Fresh, p.name)
	}
}

// copy reads one tensor into v.
func (m *matcher) copy(v *graph.Variables, p pair) error {
	if p.isState {
		return m.r.Floats(p.tensor, v.StateOf(p.number))
	}
	canonical := make([]float32, p.tensor.Shape.Elems())
	if err := m.r.Floats(p.tensor, canonical); err != nil {
		return err
	}
	v.SetParam(p.number, canonical)
	return nil
}
