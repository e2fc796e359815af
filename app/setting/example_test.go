package setting_test

import (
	"fmt"
	"log"

	"lockstep/app/setting"
)

// Flags win over defaults; what neither gives is derived from the rest.
func ExampleResolve() {
	c, origins, err := setting.Resolve(setting.Source{
		Flags: map[string]string{"workers": "2", "batch": "128"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Batch, origins["batch"])
	fmt.Println(c.Strategy, origins["strategy"])
	fmt.Println(c.Model, origins["model"])
	_, _, err = setting.Resolve(setting.Source{Flags: map[string]string{"lr": "fast"}})
	fmt.Println(err)
	// Output:
	// 128 --batch
	// ddp derived
	// lenet default
	// --lr: "fast" is no number
}
