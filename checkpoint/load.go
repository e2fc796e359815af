package checkpoint

import (
	"fmt"
	"strings"

	"lockstep/graph"
	"lockstep/tensor"
)

// LoadOptions says how a file may differ from the network.
type LoadOptions struct {
	// FreshHead is for fine-tuning. The head is the layer that declares graph.RoleHead. It keeps
	// its values if the file lacks it or has it in another size. The file may contain other heads:
	// tensors whose first name no tensor of the network's body has.
	FreshHead bool
}

// Loaded is the result of Load.
type Loaded struct {
	// Tensors is the number of the network's tensors that were read.
	Tensors int
	// Fresh lists the network's tensors that kept their values.
	Fresh []string
	// Unused lists the file's tensors that belong to other heads.
	Unused []string
	// Batches is the largest num_batches_tracked of the file, 0 if there is none.
	Batches int64
}

// Load copies r's tensors to v's parameters and states of the same name, rounded to float32.
//
// Names are compared without the prefix "bert.", which Hugging Face's BERT has only below a
// classifier, and with the old LayerNorm.gamma and LayerNorm.beta read as weight and bias. Only the
// count of num_batches_tracked is used; position_ids are constant and ignored.
//
// Errors: *MatchError if tensors are missing, surplus or misshapen; *FormatError at a value that is
// not finite; *ReadError. After a *MatchError v is unchanged; after another error it may hold some
// of the file's values.
func Load(r *Reader, v *graph.Variables, o LoadOptions) (*Loaded, error) {
	m := matcher{r: r, byName: map[string]int{}, used: map[int]bool{}, loaded: &Loaded{},
		body: map[string]bool{}, mismatch: &MatchError{File: r.Path}, head: headOf(v)}
	if err := m.index(); err != nil {
		return nil, err
	}
	m.match(v)
	if err := m.decide(o); err != nil {
		return nil, err
	}
	for _, p := range m.pairs {
		if err := m.copy(v, p); err != nil {
			return nil, err
		}
	}
	return m.loaded, nil
}

// headOf returns the name of the layer whose outputs are the classes, or "" if no layer has
// declared it.
func headOf(v *graph.Variables) string {
	for _, p := range v.Params {
		if p.Role == graph.RoleHead {
			return layerOf(modern(p.Name))
		}
	}
	return ""
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
	name = strings.TrimPrefix(name, "bert.")
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
	byName   map[string]int // of r.Tensors, by modern name
	used     map[int]bool
	head     string
	body     map[string]bool // first names of the network's tensors outside the head
	pairs    []pair
	fresh    []pair // tensors of the head that the file lacks
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

// index lists the file's weights by their modern names.
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
		name := modern(t.Name)
		if other, isThere := m.byName[name]; isThere {
			return &FormatError{File: t.file.path, Offset: -1, Tensor: t.Name, Reason: "the same " +
				"weight as " + quote(m.r.Tensors[other].Name) + " under an older name"}
		}
		m.byName[name] = i
	}
	return nil
}

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
	name := modern(p.name)
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
	if isHead {
		m.fresh = append(m.fresh, p)
	}
}

// decide collects the surplus tensors and returns the mismatch unless o allows it.
func (m *matcher) decide(o LoadOptions) error {
	others := 0
	for i, t := range m.r.Tensors {
		name := modern(t.Name)
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
	e.OnlyHead = faults == len(m.fresh)+others && len(m.pairs) > 0
	if faults > 0 && !(o.FreshHead && e.OnlyHead) {
		e.OnlyHead = e.OnlyHead && !o.FreshHead
		return e
	}
	if len(m.fresh) > 0 {
		m.freshenHead()
	}
	m.loaded.Tensors = len(m.pairs)
	return nil
}

// freshenHead removes the whole head from the pairs: half a layer is useless.
func (m *matcher) freshenHead() {
	var kept []pair
	for _, p := range m.pairs {
		if layerOf(modern(p.name)) == m.head {
			m.fresh = append(m.fresh, p)
			m.loaded.Unused = append(m.loaded.Unused, p.tensor.Name)
			continue
		}
		kept = append(kept, p)
	}
	m.pairs = kept
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
