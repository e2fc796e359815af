package chooser_test

import (
	"context"
	"fmt"
	"log"

	"lockstep/app/job/chooser"
	"lockstep/app/job/launcher"
	"lockstep/app/setting"
)

// Two workers train by the exact strategy that turns out to be the fastest.
func ExampleRun() {
	c := setting.Default()
	c.Workers, c.Strategy, c.Link = 2, setting.Auto, "local"
	summary, err := chooser.Run(context.Background(), c, launcher.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(summary.StrategyChoice.Chosen)
}
