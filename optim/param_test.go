package optim_test

import (
	"slices"
	"testing"

	"lockstep/optim"
)

// A part of a parameter is one row, a whole one keeps its shape, and every name appears.
func TestShareDescribesRanges(t *testing.T) {
	params := []optim.Param{
		{Name: "a", Offset: 0, Len: 6, Rows: 2, Cols: 3, Kind: optim.Matrix},
		{Name: "b", Offset: 8, Len: 4, Rows: 4, Cols: 1, Kind: optim.Head},
		{Name: "c", Offset: 16, Len: 2, Rows: 1, Cols: 2},
	}
	got, total := optim.Share(params, [][2]int{{4, 12}, {16, 17}})
	want := []optim.Param{
		{Name: "a", Kind: optim.Matrix}, {Name: "b", Kind: optim.Head}, {Name: "c"},
		{Name: "a", Offset: 0, Len: 2, Rows: 1, Cols: 2, Kind: optim.Matrix},
		{Name: "b", Offset: 4, Len: 4, Rows: 4, Cols: 1, Kind: optim.Head},
		{Name: "c", Offset: 8, Len: 1, Rows: 1, Cols: 1},
	}
	if total != 9 || !slices.Equal(got, want) {
		t.Errorf("got %+v of %d elements, want %+v of 9", got, total, want)
	}
}
