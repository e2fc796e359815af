package question_test

import (
	"fmt"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/question"
	"lockstep/app/record"
)

// Two workers that take half as long are the faster ones, in all six rounds.
func ExampleAnswers() {
	below := 1.0
	r := measured(0.5, 256)
	r.Inquiry = &record.Inquiry{Questions: []record.Question{{Ask: "Are two workers faster than one?",
		Quantity: "step", Of: record.Selector{"workers": "2"}, Over: []record.Selector{{"workers": "1"}},
		Below: &below}}}
	answer := question.Answers(r, compare.Compare(r))[0]
	fmt.Printf("%s %v %.2f\n", answer.Ask, answer.Verdict == question.Holds, answer.Median)
	// Output: Are two workers faster than one? true 0.50
}
