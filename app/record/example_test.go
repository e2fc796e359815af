package record_test

import (
	"encoding/json"
	"fmt"
	"log"
	"math"

	"lockstep/app/record"
)

// A loss that is not known is null.
func ExampleStep() {
	line, err := json.Marshal(record.Step{Rank: 1, Step: 3, Loss: 2.25, OwnLoss: record.Number(math.NaN())})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.52s\n", line)
	// Output: {"rank":1,"step":3,"epoch":0,"loss":2.25,"own_loss":
}
