package graph

import (
	"fmt"

	"lockstep/random"
	"lockstep/tensor"
)

// Param describes a tensor that is trained, unless a program freezes it.
type Param struct {
	// Name is PyTorch's state_dict name, such as "features.0.weight".
	Name string
	// Shape is PyTorch's shape.
	Shape tensor.Shape
	// Layout maps PyTorch's element order to the stored one.
	Layout tensor.Layout
	// Init draws the starting values; nil means zeros.
	Init Init
	// Role is what the parameter is for. Only a vector may leave it out.
	Role Role
}

// Role says what a parameter is for. Its layer declares the role; update rules and --fresh-head depend on
// it.
type Role int

const (
	// RoleUndeclared counts as RoleBias for a vector. Training refuses a parameter of another shape without
	// a role.
	RoleUndeclared Role = iota
	// RoleBias is a bias or another parameter that is not part of a matrix, such as the gains of a norm.
	RoleBias
	// RoleMatrix holds the weights of a linear layer or of a convolution, stored with the outputs
	// innermost.
	RoleMatrix
	// RoleTable is a matrix whose rows are looked up: an embedding.
	RoleTable
	// RoleHead is the matrix whose outputs are the classes.
	RoleHead
)

// Init draws a parameter's starting values.
type Init interface {
	// Draw returns the value of canonical element i, given the parameter's own random stream.
	Draw(s random.Stream, i uint64) float32
}

// Uniform draws from [-Bound, Bound).
type Uniform struct{ Bound float64 }

// Draw implements Init.
func (u Uniform) Draw(s random.Stream, i uint64) float32 { return s.Symmetric(i, u.Bound) }

// Normal draws from the normal distribution around 0.
type Normal struct{ Deviation float64 }

// Draw implements Init.
func (n Normal) Draw(s random.Stream, i uint64) float32 { return float32(n.Deviation * s.Normal(i)) }

// Constant gives every element the same value.
type Constant struct{ Value float32 }

// Draw implements Init.
func (c Constant) Draw(random.Stream, uint64) float32 { return c.Value }

// Stored returns the shape of the tensor as stored.
func (p Param) Stored() tensor.Shape {
	if len(p.Layout.Perm) == 0 {
		return p.Shape.Clone()
	}
	s := make(tensor.Shape, len(p.Layout.Perm))
	for i, axis := range p.Layout.Perm {
		s[i] = p.Layout.View[axis]
	}
	return s
}

func (p Param) validate() error {
	if p.Name == "" {
		return fmt.Errorf("a parameter needs a name")
	}
	if len(p.Layout.View) != len(p.Layout.Perm) {
		return fmt.Errorf("layout views %v through %d axes", p.Layout.View, len(p.Layout.Perm))
	}
	if len(p.Layout.View) > 0 && p.Layout.View.Elems() != p.Shape.Elems() {
		return fmt.Errorf("layout views %v as %v", p.Shape, p.Layout.View)
	}
	if len(p.Shape) == 0 {
		return fmt.Errorf("shape %v needs at least one axis", p.Shape)
	}
	if p.Shape.Elems() == 0 {
		return fmt.Errorf("shape %v has no elements", p.Shape)
	}
	return nil
}

// State describes a tensor that training updates without a gradient: after each virtual shard, in
// shard order, state = (1-Momentum)*state + Momentum*batch statistic. Its stored order is
// canonical.
type State struct {
	// Name is PyTorch's state_dict name, such as "features.1.running_mean".
	Name  string
	Shape tensor.Shape
	// Momentum is the weight of the newest shard, PyTorch's convention.
	Momentum float64
	// Initial is the starting value of every element, unless there are Values, one for each.
	Initial float32
	Values  []float32
}
