package predict_test

import (
	"context"
	"fmt"
	"log"

	"lockstep/app/bench"
	"lockstep/app/predict"
	"lockstep/app/setting"
	"lockstep/forecast"
)

// Runs of one and two workers tell the step of sixteen over a network that need not exist.
func ExampleMake() {
	c := predict.Config{Base: setting.Default(), Workers: []int{16}, Strategies: []string{"ddp"},
		Inputs: forecast.Inputs{Network: "1gbit", Rate: 1e9, PerHost: 1}}
	p, err := predict.Make(context.Background(), c, bench.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Rows[0].Step)
}
