package lab_test

import (
	"fmt"
	"log"

	"lockstep/app/lab"
)

// Four hosts share links of 1 Gbit/s; the last one's is slower and loses one packet in a thousand.
func ExampleConfig() {
	slow, err := lab.ParseRate("100mbit")
	if err != nil {
		log.Fatal(err)
	}
	loss, err := lab.ParseLoss("0.1%")
	if err != nil {
		log.Fatal(err)
	}
	c := lab.Config{Hosts: 4, Link: lab.Link{Rate: 1e9}, Links: map[int]lab.Link{3: {Rate: slow, Loss: loss}}}
	fmt.Println(lab.FormatRate(c.Link.Rate), lab.FormatRate(c.Links[3].Rate), c.Links[3].Loss, c.Validate())
	// Output: 1 Gbit/s 100 Mbit/s 0.001 <nil>
}
