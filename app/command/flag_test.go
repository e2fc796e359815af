package command

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"lockstep/cluster"
)

// execute runs a command line within this process.
func execute(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	a := &app{stdout: &out, stderr: &err, environment: cluster.Environment{}}
	status = a.run(args)
	return status, out.String(), err.String()
}

// leaves calls visit for each command that does something.
func leaves(c *cobra.Command, visit func(*cobra.Command)) {
	for _, sub := range c.Commands() {
		if sub.Hidden {
			continue
		}
		if sub.Flags().HasFlags() || !sub.HasSubCommands() {
			visit(sub)
		}
		leaves(sub, visit)
	}
}

// Every command prints JSON on request, but those with no result of their own.
func TestEveryCommandPrintsJSON(t *testing.T) {
	hasNoResult := map[string]string{
		"lockstep generate slurm": "prints a file for another program",
		"lockstep generate k8s":   "prints a file for another program",
		"lockstep run":            "the command that it starts has the flag",
		"lockstep launch":         "the command that it starts has the flag",
		"lockstep lab":            "the command that it starts has the flag",
		"lockstep token":          "prints a secret for a variable",
		"lockstep server":         "its run tells what it did",
		"lockstep serve":          "its answers by HTTP are JSON",
	}
	var names []string
	leaves((&app{}).root(), func(c *cobra.Command) {
		names = append(names, c.CommandPath())
		if hasJSON := c.Flags().Lookup("json") != nil; hasJSON == (hasNoResult[c.CommandPath()] != "") {
			t.Errorf("%s: --json is %v", c.CommandPath(), hasJSON)
		}
		if f := c.Flags().Lookup("quiet"); f != nil && f.Shorthand != "q" {
			t.Errorf("%s: --quiet has no -q", c.CommandPath())
		}
	})
	if len(names) < 16 || !slices.Contains(names, "lockstep data tokenize") {
		t.Errorf("visited %q only", names)
	}
}

// Names of flags that other programs have lead to the right flag.
func TestFlagsOfOtherPrograms(t *testing.T) {
	for _, test := range []struct{ command, flag, want string }{
		{"train", "--batch-size=3", `; did you mean "--batch"? it counts the samples of`},
		{"train", "--batch_size", `; did you mean "--batch"? it counts the samples of`},
		{"train", "--batch-size", "32 on each of 2 workers are --batch 64 ("},
		{"train", "--global-batch-size", `; did you mean "--batch"? (`},
		{"train", "--zero-stage=3", `; did you mean "--shard-optimizer"? it takes no number and is stage 1`},
		{"train", "--learning-rate", `; did you mean "--lr"? (`},
		{"train", "--nproc-per-node", `; did you mean "--workers"? (`},
		{"train", "--nproc_per_node=2", `; did you mean "--workers"? (`},
		{"bench", "--nproc-per-node", `; did you mean "--workers"? (`},
		{"bench", "--arch", `; did you mean "--model"? (`},
		{"recipe run", "--num-epochs", `; did you mean "--epochs"? (`},
		{"train", "--num-workers", "; PyTorch's loader processes have no counterpart"},
		{"train", "--num_workers=4", "; PyTorch's loader processes have no counterpart"},
		{"bench", "--num-workers", "; PyTorch's loader processes have no counterpart"},
		{"train", "--bacth", `; did you mean "--batch"? (`},
		{"commbench", "--rank", `; did you mean "--ranks"? (`},
		{"commbench", "--algoritm", `; did you mean "--algorithm"? (`},
		{"train", "--log-interval=10", "; every step is in steps.jsonl of the run directory"},
		{"train", "--print-freq=10", "; every step is in steps.jsonl of the run directory"},
		{"train", "--dist-url=tcp://a:1", "; hosts are named by flags in front of the command"},
		{"train", "-z", "unknown flag -z (lockstep train"},
		{"train", "--test-batch-size", "unknown flag --test-batch-size (lockstep train"},
		{"train", "--val-batch-size", "unknown flag --val-batch-size (lockstep train"},
		{"train", "--eval-batch-size", "unknown flag --eval-batch-size (lockstep train"},
		{"train", "--per-device-eval-batch-size", "unknown flag --per-device-eval-batch-size (lock"},
		{"train", "--bs", `; did you mean "--batch"? it counts the samples of`},
		{"train", "--per_device_train_batch_size=8", `; did you mean "--batch"? it counts the samples of`},
		{"train", "--warmup_steps=100", `; did you mean "--warmup"? it counts epochs, not steps (`},
		{"bench", "--gpus", "; --device says what computes: cpu, or "},
		{"train", "--precision", "; weights are float32, activations too but on a GPU; --math says"},
		{"train", "--amp", "; weights are float32, activations too but on a GPU; --math says"},
		{"train", "--rank", "unknown flag --rank (lockstep train"},
		{"train", "--backend=gloo", `; did you mean "--link"? it is auto, local, shm or tcp, in place`},
		{"train", "--save-every=100", `; did you mean "--checkpoint-every"? (`},
		{"train", "--save_every=100", `; did you mean "--checkpoint-every"? (`},
		{"train", "--ckpt-every", `; did you mean "--checkpoint-every"? (`},
		{"recipe run", "--eval_steps=100", `; did you mean "--eval-every"? it counts epochs, not steps (`},
		{"bench", "--bucket-cap-mb=25", `; did you mean "--bucket"? it takes bytes, or a size with its unit`},
		{"train", "--compression=bf16", `; did you mean "--wire"? (`},
		{"train", "--zero_stage=1", `; did you mean "--shard-optimizer"? it takes no number`},
		{"train", "--nnodes=2", `; hosts are named by flags in front of the command: see lockstep run`},
		{"bench", "--save-every=100", "unknown flag --save-every (lockstep bench"},
		{"launch", "--nproc-per-node=2", "; --workers of train stands behind that command (lock"},
		{"launch", "--workers=2", "; --workers of train stands behind that command (lock"},
		{"launch", "--batch-size=2", "; --batch of train stands behind that command (lock"},
		{"launch", "--lr=2", "; --lr of train stands behind that command (lock"},
		{"launch", "--hostfil=a", `; did you mean "--hostfile"? (`},
		{"lab", "--nproc-per-node=2", "; --workers of train stands behind that command (lock"},
		{"generate slurm", "--nproc-per-node=2", `; did you mean "--workers"? (`},
		{"generate k8s", "--batch-size=2", "; --batch of train stands behind that command (lock"},
		{"run", "--workers=2", "; --workers of train stands behind that command (lock"},
		{"run", "--batch_size=2", "; --batch of train stands behind that command (lock"},
		{"commbench", "--backend=gloo", `; did you mean "--link"? (`},
		{"commbench", "--batch-size=2", "unknown flag --batch-size (lockstep commbench"},
		{"train", "--nothing-like-it", "unknown flag --nothing-like-it (lockstep train --help"},
	} {
		status, _, stderr := execute(append(strings.Fields(test.command), test.flag)...)
		if status != 2 || !strings.Contains(stderr, test.want) {
			t.Errorf("%s %s: status %d, %q, want 2 and %q", test.command, test.flag, status, stderr,
				test.want)
		}
		if strings.Contains(test.flag, "num") && strings.Contains(stderr, `"--workers"`) {
			t.Errorf("%s %s leads to --workers: %q", test.command, test.flag, stderr)
		}
	}
}

// A flag of letters that is one with two dashes is named; short names have no neighbours.
func TestShortFlags(t *testing.T) {
	for flag, want := range map[string]string{
		"-lr":   `unknown flag -lr; did you mean "--lr"? (`,
		"--foo": "unknown flag --foo (lockstep train --help",
	} {
		if _, _, stderr := execute("train", flag, "1"); !strings.Contains(stderr, want) {
			t.Errorf("%s: %q, want %q", flag, stderr, want)
		}
	}
}

// Names of values that papers and other programs have lead to the right value.
func TestValuesOfOtherPrograms(t *testing.T) {
	for _, test := range []struct{ flag, want string }{
		{"--strategy=parameter-server", "ps"}, {"--strategy=Parameter_Server", "ps"},
		{"--strategy=allreduce", "all-reduce"}, {"--strategy=gather", "gather-scatter"},
		{"--strategy=DistributedDataParallel", "ddp"}, {"--strategy=async-ps", "ps-async"},
		{"--optimizer=adam", "adamw"}, {"--schedule=OneCycleLR", "triangle"}, {"--wire=fp16", "bf16"},
		{"--wire=none", "fp32"}, {"--link=gloo", "auto"}, {"--device=gpu", "cuda"},
		{"--model=bert-base-uncased", "bert-base"},
	} {
		status, _, stderr := execute("train", test.flag)
		want := `; did you mean "` + test.want + `"? (known: `
		if status != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q, want %q", test.flag, status, stderr, want)
		}
	}
}

func TestValuesOfCommbenchAreHinted(t *testing.T) {
	for _, test := range []struct{ flag, want string }{
		{"--operation=allreduce", `unknown operation "allreduce"; did you mean "all-reduce"? (known: `},
		{"--algorithm=rign", `unknown algorithm "rign"; did you mean "ring"? (known: `},
		{"--link=tpc", `unknown link "tpc"; did you mean "tcp"? (known: `},
	} {
		if status, _, stderr := execute("commbench", test.flag); status != 2 ||
			!strings.Contains(stderr, test.want) {
			t.Errorf("%s: status %d, %q, want %q", test.flag, status, stderr, test.want)
		}
	}
}

// A shell completes values: all of a flag's, and of a list those that are not there yet.
func TestValuesAreCompleted(t *testing.T) {
	for _, test := range []struct{ line, want, not string }{
		{"train --model ", "lenet vgg11 bert-base", ""},
		{"train --strategy ", "single ddp none", ""},
		{"train --optimizer ", "sgd adamw muon", ""},
		{"train --schedule ", "step cosine triangle", ""},
		{"train --wire ", "fp32 bf16 powersgd-2 auto", ""},
		{"train --data ", "glyphs cifar10 sst2", ""},
		{"train --math ", "fast exact", ""},
		{"recipe run --augment ", "crop-flip", ""},
		{"recipe run ", "cifar10-94 bert-sst2", ""},
		{"recipe show ", "lenet-mnist", ""},
		{"data path ", "mnist cifar10", ""},
		{"bench --models lenet,", "lenet,vgg11", "lenet,lenet"},
		{"bench --strategies ", "ddp", ""},
		{"bench kernels --math ", "bf16x3 bf16", ""},
		{"commbench --operation all-reduce,", "all-reduce,broadcast", "all-reduce,all-reduce"},
		{"commbench --link ", "tcp", ""},
		{"launch --ho", "--hosts", ""},
		{"run --max", "--max-restarts", ""},
		{"generate k8s --work", "--workers", ""},
	} {
		_, stdout, _ := execute(append([]string{"__complete"}, strings.Split(test.line, " ")...)...)
		got := strings.Fields(stdout)
		for _, want := range strings.Fields(test.want) {
			if !slices.Contains(got, want) {
				t.Errorf("%q completes to %q, want %s", test.line, got, want)
			}
		}
		if slices.Contains(got, test.not) {
			t.Errorf("%q completes to %q, not wanted: %s", test.line, got, test.not)
		}
	}
}
