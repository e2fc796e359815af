package strategy_test

import (
	"fmt"

	"lockstep/app/strategy"
)

func ExampleNamed() {
	s := strategy.Named("diloco")
	fmt.Println(s.HasSetting("outer-lr"), s.IsLoose())
	fmt.Println(s.Inexact)
	// Output:
	// true true
	// workers update their own weights between averages
}
