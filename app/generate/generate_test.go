package generate_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/app/generate"

	"github.com/goccy/go-yaml"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func oneHost() generate.Config {
	return generate.Config{Name: "vgg", Command: []string{"train", "--model", "vgg11", "--data", "my data's"},
		Hosts: 1, Workers: 4, Cores: 2, Runs: "/runs", Time: 26*time.Hour + 30*time.Minute,
		Grace: 90 * time.Second, Image: "registry/lockstep:1", Restarts: 3}
}

func twoHosts() generate.Config {
	c := oneHost()
	c.Hosts, c.Time, c.Partition, c.Claim, c.Memory = 2, 0, "short", "runs", "8Gi"
	c.Data, c.Image = "/scratch/sets", generate.Image
	c.Command = []string{"recipe", "run", "cifar10-94", "--checkpoint-every=1m"}
	return c
}

// What is written is what a person has looked at.
func TestGolden(t *testing.T) {
	for name, text := range map[string]string{
		"slurm1.sh":      generate.Slurm(oneHost()),
		"slurm2.sh":      generate.Slurm(twoHosts()),
		"jobset1.yaml":   generate.JobSet(oneHost()),
		"jobset2.yaml":   generate.JobSet(twoHosts()),
		"trainjob1.yaml": generate.TrainJob(oneHost()),
		"trainjob2.yaml": generate.TrainJob(twoHosts()),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || text != string(want) {
			t.Errorf("%s differs (%v): %s", name, err, text)
		}
	}
}

// The scripts are words that a shell understands, and the command keeps its words.
func TestShellUnderstands(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	for _, c := range []generate.Config{oneHost(), twoHosts()} {
		c.Command = append(c.Command, "", "$HOME", "`id`", `a"b`, "--data=glyphs",
			"--data=$(echo no)", "a  b", "\t", `\`, `'"'`, "${out}", "!!", "*", "~", "a;b", "a&b", "#c",
			"{1,2}", "<x", "%s", "--data=é")
		script := generate.Slurm(c)
		run := exec.Command(shell, "-c", `srun() { shift 3; printf '%s\n' "$@"; }; scontrol() { :; }; set -u
lockstep() { echo ls1; }
SLURM_JOB_ID=7
`+script)
		run.Dir = t.TempDir()
		output, err := run.Output()
		want := c.Command
		got := strings.Split(string(output), "\n")
		if err != nil || len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("the shell starts %q (%v), want %q first", got, err, want)
		}
	}
}

// What the Dockerfile copies is what the Makefile builds, without a C library, and the image is the default.
func TestDockerfile(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	docker, build := read("Dockerfile"), read("Makefile")
	from := regexp.MustCompile(`(?m)^COPY (\S+) `).FindStringSubmatch(docker)
	want := "\tCGO_ENABLED=0 go build -trimpath -o bin/lockstep ./cmd/lockstep\n"
	if from == nil || from[1] != "bin/lockstep" || !strings.Contains(build, want) {
		t.Errorf("the Dockerfile copies %q, which make build does not write", from)
	}
	if !strings.Contains(docker, "docker build -t "+generate.Image+" ") {
		t.Errorf("the Dockerfile does not say how to make %s", generate.Image)
	}
}

// A manifest has the fields of the published types, and no other.
func TestFields(t *testing.T) {
	types := readTypes(t)
	withClaim := oneHost()
	withClaim.Data = "datasets"
	words := twoHosts() // which YAML takes for other than strings, if they are not quoted
	words.Name, words.Claim, words.Data, words.Image, words.Runs = "true", "yes", "null", "1e3", "1:30"
	for _, c := range []generate.Config{oneHost(), twoHosts(), withClaim, words} {
		checkDocument(t, types, generate.JobSet(c), "JobSet")
		runtime, job, isTwo := strings.Cut(generate.TrainJob(c), "\n---\n")
		if !isTwo {
			t.Fatal("one document")
		}
		checkDocument(t, types, runtime, "TrainingRuntime")
		checkDocument(t, types, job, "TrainJob")
	}
	var report bytes.Buffer
	bad := strings.Replace(generate.JobSet(oneHost()), "backoffLimit: 0", "backoffLimits: 0", 1)
	var document map[string]any
	if err := yaml.Unmarshal([]byte(bad), &document); err != nil {
		t.Fatal(err)
	}
	if types.check(&report, "", "JobSet", document); !strings.Contains(report.String(), "backoffLimits") {
		t.Errorf("a wrong field is not found: %q", report.String())
	}
}

func checkDocument(t *testing.T, types types, text, name string) {
	t.Helper()
	var document map[string]any
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	var report bytes.Buffer
	if types.check(&report, "", name, document); report.Len() > 0 {
		t.Errorf("%s: %s", name, report.String())
	}
}

// types holds the form of each field by type.
type types map[string]map[string]string

func readTypes(t *testing.T) types {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "fields.txt"))
	if err != nil {
		t.Fatal(err)
	}
	all := types{}
	blocks := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	for _, block := range blocks[1:] {
		name, rest, _ := strings.Cut(block, "\n")
		all[name] = map[string]string{}
		for line := range strings.Lines(rest) {
			field, form, _ := strings.Cut(strings.TrimSpace(line), " ")
			all[name][field] = form
		}
	}
	return all
}

// check writes what is wrong with value, which should be of a form.
func (all types) check(report *bytes.Buffer, path, form string, value any) {
	wrong := func(why string) { report.WriteString(path + ": " + why + "; ") }
	element, isList := strings.CutPrefix(form, "[]")
	if isList {
		list, ok := value.([]any)
		if !ok || len(list) == 0 {
			wrong("no list")
		}
		for _, v := range list {
			all.check(report, path+"[]", element, v)
		}
		return
	}
	if fields, isType := all[form]; isType && path != ".kind" {
		object, ok := value.(map[string]any)
		if !ok {
			wrong("no " + form)
		}
		all.checkObject(report, path, fields, object)
		return
	}
	switch v := value.(type) {
	case string:
		if form != "string" && !strings.Contains("|"+form+"|", "|"+v+"|") {
			wrong(v + " is no " + form)
		}
	case uint64, int64:
		if form != "integer" {
			wrong("a number, want " + form)
		}
	case bool:
		if form != "bool" {
			wrong("a bool, want " + form)
		}
	case map[string]any:
		if form != "map" {
			wrong("a map, want " + form)
		}
	default:
		wrong("unexpected")
	}
}

func (all types) checkObject(report *bytes.Buffer, path string, fields map[string]string,
	object map[string]any) {
	for name, value := range object {
		form, ok := fields[name]
		if !ok {
			form, ok = fields[name+"!"]
		}
		if !ok {
			report.WriteString(path + "." + name + ": unknown; ")
			continue
		}
		all.check(report, path+"."+name, form, value)
	}
	for name := range fields {
		if required, isRequired := strings.CutSuffix(name, "!"); isRequired && object[required] == nil {
			report.WriteString(path + "." + required + ": missing; ")
		}
	}
}

func TestValidate(t *testing.T) {
	if err := oneHost().Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*generate.Config){
		"name":      func(c *generate.Config) { c.Name = "a b" },
		"runs":      func(c *generate.Config) { c.Runs = "$(id)" },
		"partition": func(c *generate.Config) { c.Partition = "a\n#SBATCH" },
		"image":     func(c *generate.Config) { c.Image = "a: b" },
		"data":      func(c *generate.Config) { c.Data = "$(id)" },
		"claim":     func(c *generate.Config) { c.Claim = "A" },
		"memory":    func(c *generate.Config) { c.Memory = "much" },
		"time":      func(c *generate.Config) { c.Time = time.Minute },
		"grace":     func(c *generate.Config) { c.Grace = 0 },
		"hosts":     func(c *generate.Config) { c.Hosts = 0 },
		"workers":   func(c *generate.Config) { c.Workers = 1 << 20 },
		"cores":     func(c *generate.Config) { c.Cores = -1 },
		"restarts":  func(c *generate.Config) { c.Restarts = -1 },
		"command":   func(c *generate.Config) { c.Command = []string{"train", "a\nb"} },
		"--out":     func(c *generate.Config) { c.Command = []string{"train", "--out=x"} },
	} {
		c := oneHost()
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), want+": ") {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

// What the files hold outside quotes is never anything but a plain word.
func TestHostileValues(t *testing.T) {
	for _, hostile := range []string{"a b", "a\nid", "a\n",
		"$(id)", "`id`", "a'", `a"b`, "a;id", "a&b",
		"a|b", "a>b", "~a", "a*", "$HOME", "a#b", `a\b`, "a\tb", "a\x00"} {
		for _, c := range []struct {
			name   string
			change func(*generate.Config)
		}{
			{"name", func(c *generate.Config) { c.Name = hostile }},
			{"runs", func(c *generate.Config) { c.Runs = hostile }},
			{"partition", func(c *generate.Config) { c.Partition = hostile }},
			{"image", func(c *generate.Config) { c.Image = hostile }},
			{"claim", func(c *generate.Config) { c.Claim = hostile }},
			{"memory", func(c *generate.Config) { c.Memory = hostile }},
			{"data", func(c *generate.Config) { c.Data = hostile }},
			{"--out", func(c *generate.Config) { c.Command = []string{"train", "--out", hostile} }},
		} {
			config := oneHost()
			c.change(&config)
			if err := config.Validate(); err == nil || !strings.HasPrefix(err.Error(), c.name+": ") {
				t.Errorf("%s %q: %v", c.name, hostile, err)
			}
		}
	}
}
