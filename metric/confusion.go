package metric

import "math"

// Confusion counts samples by their class and the one that was predicted.
type Confusion struct {
	NumClasses int
	// Counts is [NumClasses, NumClasses]: of the samples of each class, row by row, those that were
	// predicted to be of each.
	Counts []int64
}

// Confusion counts the samples. Cost: N C.
func (p *Predictions) Confusion() Confusion {
	p.mustHaveLabels()
	c := Confusion{p.NumOutputs, make([]int64, p.NumOutputs*p.NumOutputs)}
	for i, label := range p.Labels {
		c.Counts[int(label)*c.NumClasses+p.Largest(i)]++
	}
	return c
}

// Class is how well one class is told from the others.
type Class struct {
	// Precision is the part of the samples predicted to be of the class that are, Recall the part of the
	// samples of the class that were predicted to be, F1 their harmonic mean.
	Precision, Recall, F1 float64
	// Support is the number of samples of the class, Predicted of those predicted to be of it.
	Support, Predicted int64
}

// Classes returns the figures of each class. Cost: C^2.
func (c Confusion) Classes() []Class {
	classes := make([]Class, c.NumClasses)
	for is := range classes {
		for said := range classes {
			n := c.Counts[is*c.NumClasses+said]
			classes[is].Support += n
			classes[said].Predicted += n
		}
	}
	for k := range classes {
		right := float64(c.Counts[k*c.NumClasses+k])
		one := &classes[k]
		one.Precision = ratio(right, float64(one.Predicted))
		one.Recall = ratio(right, float64(one.Support))
		one.F1 = ratio(2*right, float64(one.Predicted+one.Support))
	}
	return classes
}

// ratio returns a/b, 0 if b is.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Accuracy returns the part of the samples that are right.
func (c Confusion) Accuracy() float64 {
	right, all := 0.0, 0.0
	for i, n := range c.Counts {
		all += float64(n)
		if i%(c.NumClasses+1) == 0 {
			right += float64(n)
		}
	}
	return ratio(right, all)
}

// Average is a mean over classes.
type Average struct{ Precision, Recall, F1 float64 }

// Macro returns the plain mean over the classes that have a sample or were predicted: a class of few samples
// counts as much as one of many.
func (c Confusion) Macro() Average {
	return c.average(func(one Class) float64 {
		if one.Support+one.Predicted == 0 {
			return 0
		}
		return 1
	})
}

// Weighted returns the mean over classes by their numbers of samples.
func (c Confusion) Weighted() Average {
	return c.average(func(one Class) float64 { return float64(one.Support) })
}

func (c Confusion) average(weight func(Class) float64) Average {
	var a Average
	all := 0.0
	for _, one := range c.Classes() {
		w := weight(one)
		all += w
		a.Precision += float64(w * one.Precision)
		a.Recall += float64(w * one.Recall)
		a.F1 += float64(w * one.F1)
	}
	return Average{ratio(a.Precision, all), ratio(a.Recall, all), ratio(a.F1, all)}
}

// BalancedAccuracy returns the mean of the recall over the classes that have a sample: what guessing one
// class throughout gets is 1 / their number.
func (c Confusion) BalancedAccuracy() float64 {
	sum, present := 0.0, 0.0
	for _, one := range c.Classes() {
		if one.Support > 0 {
			sum += one.Recall
			present++
		}
	}
	return ratio(sum, present)
}

// Kappa returns Cohen's kappa: the agreement beyond what classes drawn by their frequencies would reach,
// 1 at best and 0 for guessing.
func (c Confusion) Kappa() float64 {
	all, chance := 0.0, 0.0
	for _, one := range c.Classes() {
		all += float64(one.Support)
		chance += float64(float64(one.Support) * float64(one.Predicted))
	}
	chance = ratio(chance, all*all)
	return ratio(c.Accuracy()-chance, 1-chance)
}

// Matthews returns the correlation of classes and predictions, -1 to 1, after Gorodkin 2004.
func (c Confusion) Matthews() float64 {
	var all, right, both, is, said float64
	for k, one := range c.Classes() {
		s, p := float64(one.Support), float64(one.Predicted)
		all += s
		right += float64(c.Counts[k*c.NumClasses+k])
		both += float64(s * p)
		is += float64(s * s)
		said += float64(p * p)
	}
	return ratio(float64(right*all)-both, math.Sqrt((float64(all*all)-is)*(float64(all*all)-said)))
}
