package launch

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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
	name, _ := os.Hostname()
	here := agent.Agent{In: os.Stdin, Out: out, Status: job.ExitCode, Environment: e,
		Hello: agent.Hello{Version: version, Hash: hash, Name: name, PID: os.Getpid(),
			Jobs:     JobsFolder(),
			Platform: runtime.GOOS + "/" + runtime.GOARCH},
		Answer: func(ctx context.Context, name string, body json.RawMessage) (json.RawMessage, error) {
			if name == askStand {
				return standing(body)
			}
			return examined.Answer(ctx, name, body)
		}}
	if self, err := os.Executable(); err == nil {
		agent.Tidy(self, JobsFolder(), time.Now())
	}
	return here.Serve(ctx)
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
		folder = filepath.Join(JobsFolder(), asked.Folder)
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

// JobsFolder is where an agent keeps the folders of jobs of other machines.
func JobsFolder() string {
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
	if !filepath.IsLocal(job) {
		return setting.Refuse("receive: --job %.80q, want a name", job)
	}
	return transfer.Receive(ctx, in, out, filepath.Join(JobsFolder(), job))
}

// Send sends results of a job to its console, on whose side is [transfer.Receive]. The name is of [sentName].
func Send(ctx context.Context, in io.ReadCloser, out io.Writer, name string) error {
	text, err := base64.RawURLEncoding.DecodeString(name)
	job, folder, _ := strings.Cut(string(text), "/")
	if err != nil || !filepath.IsLocal(job) || !filepath.IsLocal(folder) {
		return setting.Refuse("agent: --send %.80q, want the name of a folder of results", name)
	}
	var files []transfer.File
	err = addFiles(&files, filepath.Join(JobsFolder(), job, folder), folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	cargo, err := transfer.Load(ctx, files)
	if err != nil {
		return err
	}
	_, err = cargo.Deliver(ctx, "console", struct {
		io.ReadCloser
		io.Writer
	}{in, out}, nil)
	return err
}

// sentName names the results in a folder of a job in one word that a shell takes as it is.
func sentName(job, folder string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(job + "/" + folder))
}
