package alloctest_test

import (
	"testing"

	"lockstep/internal/alloctest"
)

var kept *int

func TestLeast(t *testing.T) {
	calls := 0
	every := func(n int) func() {
		calls = 0
		return func() {
			if calls++; calls%n == 0 {
				kept = new(int)
			}
		}
	}
	if n := alloctest.Least(5, every(1)); n != 5 {
		t.Errorf("%d allocations in 5 calls, want 5", n)
	}
	if n := alloctest.Least(5, every(5)); n != 1 {
		t.Errorf("%d allocations in 5 calls, want 1", n)
	}
	if n := alloctest.Least(5, every(100)); n != 0 {
		t.Errorf("%d allocations, want 0", n)
	}
	if once := every(3); alloctest.Least(5, once) == 0 {
		t.Error("an allocation in each third call was missed")
	}
}
