package commbench

import (
	"encoding/json"
	"reflect"
	"testing"
)

// However many samples a rank takes, each message to the launcher is short, and all reach it.
func TestSamplesTravelInPieces(t *testing.T) {
	var want, got findings
	for i := range 3 {
		s := sampling{Seconds: make([]float64, maxRepeats-i), Sent: int64(i)}
		for j := range s.Seconds {
			s.Seconds[j] = 1 / float64(3+j)
		}
		want.Points = append(want.Points, s)
	}
	want.tell(func(p any) {
		text, err := json.Marshal(p)
		if err != nil || len(text) > 60<<10 {
			t.Fatalf("message of %d bytes, %v", len(text), err)
		}
		if err := got.take(text); err != nil {
			t.Fatal(err)
		}
	})
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%d points came, %d were told", len(got.Points), len(want.Points))
	}
}
