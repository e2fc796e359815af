package command

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"lockstep/app/doctor"
	"lockstep/app/job"
	"lockstep/app/launch"
	"lockstep/internal/regular"

	"github.com/spf13/cobra"
)

// agentCommand is started on a host by lockstep launch, not by users. It ends with its standard input.
func agentCommand(a *app) *cobra.Command {
	var isHash, isSend bool
	c := &cobra.Command{
		Use:         agentArgument,
		Short:       "Start and end processes of a job on this host, as lockstep launch asks it to",
		Hidden:      true,
		Annotations: map[string]string{anywhere: "true"},
		Args:        noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if isSend {
				return launch.Send(os.Stdin, a.stdout, jobsFolder())
			}
			hash, err := ownHash()
			if err != nil {
				return err
			}
			if isHash {
				_, err := fmt.Fprintln(a.stdout, hash)
				return err
			}
			return a.serve(c.Context(), hash)
		},
	}
	c.Flags().BoolVar(&isHash, "hash", false, "print the SHA-256 of this program")
	c.Flags().BoolVar(&isSend, "send", false, "send the results of a job that standard input names")
	return c
}

// agentArgument is the command of lockstep that is an agent.
const agentArgument = "agent"

// serve is the life of an agent.
func (a *app) serve(ctx context.Context, hash string) error {
	examined := doctor.NewHost(doctorPlaces(), a.clock)
	defer examined.Close() // it ends listening
	name, _ := os.Hostname()
	agent := launch.Agent{In: os.Stdin, Out: a.stdout, Status: job.ExitCode, Environment: a.environment,
		Hello: launch.Hello{Version: sourceVersion(), Hash: hash, Name: name, PID: os.Getpid(),
			Jobs:     jobsFolder(),
			Platform: runtime.GOOS + "/" + runtime.GOARCH},
		Answer: func(ctx context.Context, name string, body json.RawMessage) (json.RawMessage, error) {
			if doctor.IsQuestion(name) {
				return examined.Answer(ctx, name, body)
			}
			if name == askStand {
				return standing(body)
			}
			return nil, fmt.Errorf("agent: unknown ask %q", name)
		}}
	if self, err := os.Executable(); err == nil {
		launch.Tidy(self, jobsFolder(), time.Now())
	}
	return agent.Serve(ctx)
}

// askStand is the name of an ask of the first host: where a run that has ended early can go on. Its body is a
// standAsk, its answer a record.Standing.
const askStand = "job.stand"

// standAsk names the directory of a run.
type standAsk struct {
	Folder    string `json:"folder"` // of the job; "": the current one
	Directory string `json:"directory"`
}

// standing answers an ask. The path of the checkpoint is relative to the job's folder.
func standing(body json.RawMessage) (json.RawMessage, error) {
	var asked standAsk
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, fmt.Errorf("agent: %s: %w", askStand, err)
	}
	folder := "."
	if asked.Folder != "" {
		if !filepath.IsLocal(asked.Folder) || !filepath.IsLocal(asked.Directory) {
			return nil, fmt.Errorf("agent: %s: %q in %q is not below the folder of jobs", askStand,
				asked.Directory, asked.Folder)
		}
		folder = filepath.Join(jobsFolder(), asked.Folder)
	}
	directory := asked.Directory
	if !filepath.IsAbs(directory) {
		directory = filepath.Join(folder, directory)
	}
	s, err := job.Stand(directory)
	if err != nil {
		return nil, err
	}
	if s.Checkpoint != "" && !filepath.IsAbs(asked.Directory) {
		if s.Checkpoint, err = filepath.Rel(folder, s.Checkpoint); err != nil {
			return nil, err
		}
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

// ownHash returns the SHA-256 of this program.
func ownHash() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return regular.Hash(self)
}

// sourceVersion names the source from which this program was built.
func sourceVersion() string {
	version, revision := doctor.Version()
	return strings.TrimSpace(version + " " + revision)
}
