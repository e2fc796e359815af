package data_test

import (
	"context"
	"errors"
	"math"
	"os"
	"testing"

	"lockstep/data"
)

// loadReal loads a real data set from LOCKSTEP_DATA or ../shared/data, or skips the test.
func loadReal(t *testing.T, name string) (train, test *data.Set) {
	t.Helper()
	dir := os.Getenv("LOCKSTEP_DATA")
	if dir == "" {
		dir = "../../shared/data"
	}
	train, test, err := data.Load(context.Background(), name, data.Options{Dir: dir, Offline: true})
	var missing *data.MissingError
	if errors.As(err, &missing) {
		t.Skipf("needs real data: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	return train, test
}

func labelCounts(s *data.Set) [10]int {
	var counts [10]int
	for _, label := range s.Labels {
		counts[label]++
	}
	return counts
}

func TestRealCIFAR10(t *testing.T) {
	train, test := loadReal(t, "cifar10")
	for _, c := range []struct {
		set  *data.Set
		each int
	}{{train, 5000}, {test, 1000}} {
		for class, n := range labelCounts(c.set) {
			if n != c.each {
				t.Errorf("%d images of %s, want %d", n, c.set.Classes[class], c.each)
			}
		}
	}
	wantMoments(t, train, 1)
	if train.Classes[train.Labels[0]] != "frog" || test.Classes[test.Labels[0]] != "cat" {
		t.Errorf("first labels %d, %d; want frog, cat", train.Labels[0], test.Labels[0])
	}
}

func TestRealMNIST(t *testing.T) {
	train, test := loadReal(t, "mnist")
	if got, want := labelCounts(train), [10]int{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265,
		5851, 5949}; got != want {
		t.Errorf("training labels %v, want %v", got, want)
	}
	if got, want := labelCounts(test), [10]int{980, 1135, 1032, 1010, 982, 892, 958, 1028,
		974, 1009}; got != want {
		t.Errorf("test labels %v, want %v", got, want)
	}
	wantMoments(t, train, 1024.0/784) // the margin is not part of the published figures
}

// wantMoments compares the measured moments with the set's, which are the published ones. The
// images are the given factor larger than those that the figures are about, by black pixels.
func wantMoments(t *testing.T, s *data.Set, factor float64) {
	t.Helper()
	mean, deviation := moments(s)
	for c := range mean {
		square := (deviation[c]*deviation[c] + mean[c]*mean[c]) * factor
		m := mean[c] * factor
		d := math.Sqrt(square - m*m)
		if math.Abs(m-float64(s.Mean[c])) > 0.00006 || math.Abs(d-float64(s.Std[c])) > 0.00006 {
			t.Errorf("channel %d: mean %.5f, deviation %.5f; want %v, %v", c, m, d, s.Mean[c], s.Std[c])
		}
	}
}
