package worker_test

import (
	"context"
	"fmt"
	"os"

	"lockstep/app/job"
	"lockstep/app/job/worker"
	"lockstep/cluster"
)

// The program of a worker process.
func ExampleWork() {
	err := worker.Work(context.Background(), cluster.ProcessEnvironment(),
		worker.Program{Log: os.Stderr, Abandon: os.Exit})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(job.ExitCode(err))
}
