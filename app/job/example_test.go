package job_test

import (
	"errors"
	"fmt"

	"lockstep/app/job"
	"lockstep/app/setting"
	"lockstep/comm"
)

func ExampleExitCode() {
	fmt.Println(job.ExitCode(nil), job.ExitCode(setting.Refuse("--batch: got 0, want at least 1")),
		job.ExitCode(fmt.Errorf("step 3: %w", &comm.PeerError{Rank: 1, Op: comm.Message,
			Err: errors.New("gone")})))
	// Output: 0 2 5
}
