package launcher_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"lockstep/app/job/launcher"
	"lockstep/app/setting"
)

// One worker trains in the calling process. Several are processes of the same program, which calls Work in
// them.
func ExampleRun() {
	folder, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	c := setting.Default()
	c.Data = "synthetic"
	c.Batch, c.Steps, c.Threads, c.LimitTrain, c.LimitTest = 16, 4, 1, 64, 16
	c.Out = filepath.Join(folder, "mine")
	summary, err := launcher.Run(context.Background(), c, launcher.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(summary.Steps, "steps,", summary.Samples, "samples")
	// Output: 4 steps, 64 samples
}
