package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"lockstep/app/doctor"
	"lockstep/app/job"
	"lockstep/app/launch/agent"
	"lockstep/app/setting"
	"lockstep/app/transfer"
	"lockstep/cluster"
	"lockstep/internal/regular"
)

// Serve is the life of the agent of a host.
func Serve(ctx context.Context, out io.Writer, e cluster.Environment, clock func() time.Time, version,
	hash string) error {
	examined := doctor.NewHost(clock)
	defer examined.Close() // it ends listening
	here := agent.Agent{In: os.Stdin, Out: out, Status: job.ExitCode, Environment: e,
		Hello: agent.Hello{Version: version, Hash: hash, PID: os.Getpid(), Jobs: jobsFolder(),
			Platform: runtime.GOOS + "/" + runtime.GOARCH},
		Answer: func(ctx context.Context, name string, body json.RawMessage) (json.RawMessage, error) {
			if name == askStand {
				return standing(body)
			}
			return examined.Answer(ctx, name, body)
		}}
	if self, err := os.Executable(); err == nil {
		agent.Tidy(self, jobsFolder(), time.Now())
	}
	return here.Serve(ctx)
}

// askStand is the name of an ask of the first host: where a run that has ended early can go on. Its body is
// the run's directory, its answer a record.Standing.
const askStand = "job.stand"

// standing answers an ask.
func standing(body json.RawMessage) (json.RawMessage, error) {
	var directory string
	if err := json.Unmarshal(body, &directory); err != nil {
		return nil, fmt.Errorf("agent: %s: %w", askStand, err)
	}
	s, err := job.Stand(directory)
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// jobsFolder is where an agent keeps the folders of jobs of other machines.
func jobsFolder() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "lockstep", "jobs")
}

// OwnHash returns the SHA-256 of this program.
func OwnHash() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return regular.Hash(self)
}

// Receive takes files that a console sends: into the folder of a job or, without one, data sets into the
// cache, unless the folder of LOCKSTEP_DATA has them.
func Receive(ctx context.Context, in io.Reader, out io.Writer, e cluster.Environment, job string) error {
	if job == "" {
		return transfer.Receive(ctx, in, out, e[cluster.EnvData], setting.DataOptions("", e).Cache)
	}
	return transfer.Receive(ctx, in, out, filepath.Join(jobsFolder(), job))
}
