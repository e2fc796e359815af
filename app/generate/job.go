package generate

import (
	"embed"
	"fmt"
	"lockstep/internal/spelling"
	"strings"
	"text/template"
	"time"
)

//go:embed template
var templates embed.FS

// job is what the templates see: a Config with what follows from it.
type job struct {
	Config
	Container string // name of a pod's container
	Run       string // lockstep run with its flags, in a pod
}

// Slurm returns a script for sbatch. Slurm asks the run for a checkpoint c.Grace before the time limit, and
// a run that ends with status 75 is put into the queue again.
func Slurm(c Config) string { return job{Config: c}.file("slurm.tmpl") }

// JobSet returns a JobSet (jobset.x-k8s.io/v1alpha2) with one pod for each host. A failed pod starts all of
// them again, unless its exit status says that it would fail again.
func JobSet(c Config) string {
	run := fmt.Sprintf("lockstep run --nnodes %d --nproc-per-node %d --master-addr %[3]s-worker-0-0.%[3]s "+
		"--rdzv-id %[3]s", c.Hosts, c.Workers, c.Name)
	return job{c, "lockstep", run}.file("jobset.tmpl")
}

// TrainJob returns a TrainingRuntime and a TrainJob that uses it (trainer.kubeflow.org/v1alpha1). Kubeflow
// tells each pod its place by PET_ variables, which `lockstep run` reads.
func TrainJob(c Config) string { return job{c, "node", "lockstep run"}.file("trainjob.tmpl") }

// file executes a template for the job. What the caller names is quoted in YAML: a claim may be called yes,
// or 1e3.
func (j job) file(name string) string {
	t := template.New(name)
	execute := func(part string, to *strings.Builder) {
		if err := t.ExecuteTemplate(to, part, j); err != nil {
			panic(err) // a template that the tests execute has no such field
		}
	}
	t.Funcs(template.FuncMap{
		"quote": func(text string) string { return fmt.Sprintf("%q", text) },
		"list":  func(all ...string) []string { return all },
		"part": func(part string, indent int) string {
			var b, indented strings.Builder
			execute(part, &b)
			for line := range strings.Lines(b.String()) {
				indented.WriteString(strings.Repeat(" ", indent) + line)
			}
			return indented.String()
		},
	})
	template.Must(t.ParseFS(templates, "template/*.tmpl"))
	var b strings.Builder
	execute(name, &b)
	return b.String()
}

// IsLocal reports whether the image is that of the source's Dockerfile.
func (j job) IsLocal() bool { return j.Image == Image }

// IsFolder reports whether the data sets are in a folder of each host.
func (j job) IsFolder() bool { return strings.HasPrefix(j.Data, "/") }

// GraceSeconds is the grace in seconds.
func (j job) GraceSeconds() int { return int(j.Grace.Seconds()) }

// HostCores is the number of cores of a host.
func (j job) HostCores() int { return j.Workers * j.Cores }

// SlurmMemory is the memory as Slurm writes it.
func (j job) SlurmMemory() string { return strings.ToUpper(strings.TrimSuffix(j.Memory, "i")) }

// SlurmTime is the limit as days-hours:minutes:seconds.
func (j job) SlurmTime() string {
	s := int(j.Time.Round(time.Second).Seconds())
	return fmt.Sprintf("%d-%02d:%02d:%02d", s/86400, s/3600%24, s/60%60, s%60)
}

// Begin returns the words that start the run anew, in the folder that the shell variable out names.
func (j job) Begin() string {
	words := make([]string, len(j.Command))
	hasInterval := false
	for i, arg := range j.Command {
		words[i] = spelling.Word(arg)
		hasInterval = hasInterval || strings.HasPrefix(arg, "--checkpoint-every")
	}
	if !hasInterval {
		words = append(words, "--checkpoint-every", CheckpointEvery)
	}
	return strings.Join(words, " ") + ` --out "$out"`
}
