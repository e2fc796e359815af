package train

import (
	"fmt"

	"lockstep/graph"
	"lockstep/optim"
)

// Parameters describes to an optimizer the ranges of v's weights, each with the role that its layer
// declared.
func Parameters(v *graph.Variables) []optim.Param {
	params := make([]optim.Param, len(v.Params))
	for i, p := range v.Params {
		q := optim.Param{Name: p.Name, Offset: v.Segments[i].Offset, Len: v.Segments[i].Len}
		stored := p.Stored()
		switch p.Role {
		case graph.RoleMatrix, graph.RoleHead:
			q.Cols, q.Kind = stored[len(stored)-1], optim.Matrix
			q.Rows = q.Len / q.Cols
			if p.Role == graph.RoleHead {
				q.Kind = optim.Head
			}
		case graph.RoleTable:
			q.Rows, q.Kind = stored[0], optim.Table
			q.Cols = q.Len / q.Rows
		default:
			q.Rows, q.Cols = 1, q.Len
		}
		params[i] = q
	}
	return params
}

// checkRoles returns an error if a parameter has no role, so that no rule says how to update it.
func checkRoles(v *graph.Variables) error {
	for _, p := range v.Params {
		if len(p.Shape) > 1 && p.Role == graph.RoleUndeclared {
			return fmt.Errorf("train: parameter %s %v has no role: its layer declares one of "+
				"graph.RoleBias, RoleMatrix, RoleTable and RoleHead", p.Name, p.Shape)
		}
	}
	return nil
}
