package recipe_test

import (
	"fmt"
	"log"

	"lockstep/recipe"
)

func ExampleNamed() {
	r, err := recipe.Named("lenet-mnist")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.About)
	fmt.Println(r.Config.Model, r.Config.Epochs, "epochs, goal", r.Goal)
	// Output:
	// lenet on MNIST
	// lenet 5 epochs, goal 0.99
}
