package input_test

import (
	"context"
	"fmt"
	"log"

	"lockstep/app/job/input"
	"lockstep/app/setting"
)

func ExampleLoad() {
	c := setting.Default()
	c.LimitTrain, c.LimitTest = 100, 20
	start, err := input.Open(c, func(string) {})
	if err != nil {
		log.Fatal(err)
	}
	task, err := input.Load(context.Background(), c, c.DataOptions(nil), start)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(task.Network.Name, task.Train.Len(), task.Test.Len())
	// Output: lenet 100 20
}
