package lab_test

import (
	"fmt"
	"log"

	"lockstep/cluster/lab"
)

// Four hosts share links of 1 Gbit/s that lose one packet in a thousand.
func ExampleConfig() {
	rate, err := lab.ParseRate("1gbit")
	if err != nil {
		log.Fatal(err)
	}
	loss, err := lab.ParseLoss("0.1%")
	if err != nil {
		log.Fatal(err)
	}
	c := lab.Config{Hosts: 4, Link: lab.Link{Rate: rate, Loss: loss}}
	fmt.Println(c.Link, c.Validate())
	// Output: 1 Gbit/s, 0.1 % loss <nil>
}
