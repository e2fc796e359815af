package record

import (
	"fmt"
	"math"
	"slices"
)

// Guess is what guessing gets on samples without looking at them.
type Guess struct {
	Accuracy float64 `json:"accuracy"` // of answering their most frequent class, 0 to 1
	Loss     float64 `json:"loss"`     // of giving each class its share of them
}

// GuessOf returns what guessing gets on so many samples of each class; nil if there are none.
func GuessOf(counts []int) *Guess {
	total := 0
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return nil
	}
	g := &Guess{Accuracy: float64(slices.Max(counts)) / float64(total)}
	for _, n := range counts {
		if share := float64(n) / float64(total); n > 0 {
			g.Loss -= share * math.Log(share)
		}
	}
	return g
}

// Majority says what answering the most frequent class throughout gets; "" if it is not told or not much.
func (g *Guess) Majority() string {
	if g == nil || g.Accuracy < 0.5 {
		return ""
	}
	return fmt.Sprintf("; always saying the most frequent class: %.2f %%", 100*g.Accuracy)
}

// Or returns g or, if that is nil, what guessing gets on as many samples of each class.
func (g *Guess) Or(classes int) Guess {
	if g != nil {
		return *g
	}
	if classes < 1 {
		return Guess{}
	}
	return Guess{1 / float64(classes), math.Log(float64(classes))}
}

// GuessingShare is the share of the loss of guessing above which a loss counts as that.
const GuessingShare = 0.95

// IsNear reports whether a loss is near or above that of guessing. With fewer than two classes, which is also
// to say unknown, it is not told.
func (g Guess) IsNear(loss float64) bool { return g.Loss > 0 && loss > GuessingShare*g.Loss }

// IsBeaten reports whether an accuracy on so many samples is more than three standard errors above that of
// guessing.
func (g Guess) IsBeaten(accuracy float64, samples int64) bool {
	p := g.Accuracy
	return accuracy > p+3*math.Sqrt(p*(1-p)/float64(samples))
}
