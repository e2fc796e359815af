package generate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Config describes the job.
type Config struct {
	Name    string   // of the job: lower-case letters, digits and dashes
	Command []string // of lockstep, with its flags: train or recipe run
	Hosts   int      // at least 1
	Workers int      // on each host, at least 1
	Cores   int      // of each worker, at least 1
	Runs    string   // folder of run directories, which all hosts share
	Data    string   // where data sets are: a folder of each host or, for Kubernetes, also a claim; "": none
	Memory  string   // of each host, such as 8Gi; "": Slurm's default, and no limit in Kubernetes

	Time      time.Duration // limit of a Slurm job; 0: that of the partition
	Partition string        // of Slurm; "": the default
	Grace     time.Duration // before the end of which a run is asked to save a checkpoint

	Image    string // of the container; it needs a shell and lockstep
	Claim    string // persistent volume claim that is mounted at Runs; "": a volume that is lost with the pod
	Restarts int    // how often Kubernetes starts all hosts again
}

// Image is what the Dockerfile of the source makes: an image with lockstep and a shell.
const Image = "lockstep:local"

// CheckpointEvery is the interval of checkpoints if the command gives none.
const CheckpointEvery = "5m"

// errorFormat is the form of the error of a field.
const errorFormat = "%s: %.80q, want %s"

// Validate returns an error that names the first field that cannot work.
func (c Config) Validate() error {
	name := regexp.MustCompile(`^[a-z]([-a-z0-9]{0,50}[a-z0-9])?$`)
	quantity := regexp.MustCompile(`^[0-9]+(Ki|Mi|Gi|Ti|k|M|G|T)?$`)
	plain := regexp.MustCompile(`^[\w./:@-]+$`)
	for _, f := range []struct {
		name, value, want string
		isRight           bool
	}{
		{"name", c.Name, "up to 52 lower-case letters, digits and dashes, a letter first",
			name.MatchString(c.Name)},
		{"runs", c.Runs, "a path without spaces", plain.MatchString(c.Runs)},
		{"data", c.Data, "a path without spaces, or the name of a claim",
			c.Data == "" || plain.MatchString(c.Data)},
		{"partition", c.Partition, "a name", c.Partition == "" || plain.MatchString(c.Partition)},
		{"image", c.Image, "an image such as registry/name:tag", plain.MatchString(c.Image)},
		{"claim", c.Claim, "the name of a claim", c.Claim == "" || name.MatchString(c.Claim)},
		{"memory", c.Memory, "a quantity such as 8Gi", c.Memory == "" || quantity.MatchString(c.Memory)},
		{"time", c.Time.String(), "more than the grace", c.Time == 0 || c.Time > c.Grace},
		{"grace", c.Grace.String(), "1s to 18h", c.Grace >= time.Second && c.Grace <= 65535*time.Second},
	} {
		if !f.isRight {
			return fmt.Errorf(errorFormat, f.name, f.value, f.want)
		}
	}
	for _, f := range []struct {
		name         string
		value, least int
	}{{"hosts", c.Hosts, 1}, {"workers", c.Workers, 1}, {"cores", c.Cores, 1}, {"restarts", c.Restarts, 0}} {
		if f.value < f.least || f.value > 1<<16 {
			return fmt.Errorf(errorFormat, f.name, fmt.Sprint(f.value), fmt.Sprintf("%d to 65536", f.least))
		}
	}
	return c.validateCommand()
}

// validateCommand refuses flags whose values the files give.
func (c Config) validateCommand() error {
	for _, arg := range c.Command {
		if strings.ContainsAny(arg, "\x00\n\r") {
			return fmt.Errorf(errorFormat, "command", arg, "no line break")
		}
		flag, _, _ := strings.Cut(arg, "=")
		if slices.Contains([]string{"--out", "--resume", "--workers"}, flag) {
			return fmt.Errorf("%s: the job gives it; leave it out of the command", flag)
		}
	}
	return nil
}
