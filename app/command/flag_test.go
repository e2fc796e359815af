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
		"lockstep token":          "prints a secret for a variable",
		"lockstep server":         "its run tells what it did",
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
		{"train", "--fp16-allreduce", `; did you mean "--wire"? --wire bf16 halves what travels`},
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
		{"commbench", "--iterations", `; did you mean "--repeats"? (`},
		{"commbench", "--iters=100", `; did you mean "--repeats"? (`},
		{"train", "--log-interval=10", "; every step is in steps.jsonl of the run directory"},
		{"train", "--print-freq=10", "; every step is in steps.jsonl of the run directory"},
		{"train", "--dist-url=tcp://a:1", "; hosts are named by flags in front of the command"},
		{"train", "--save-model", "; the weights are saved unless --save=false says otherwise ("},
		{"train", "--dry-run", "; --steps 1 trains one step ("},
		{"train", "-a", `unknown flag -a; did you mean "--model"? (`},
		{"train", "-b", `unknown flag -b; did you mean "--batch"? it counts the samples of`},
		{"train", "-e", `unknown flag -e; did you mean "--eval-only"? (`},
		{"train", "-j4", "unknown flag -j; PyTorch's loader processes have no counterpart"},
		{"train", "-p", "unknown flag -p; every step is in steps.jsonl"},
		{"train", "-z", "unknown flag -z (lockstep train"},
		{"train", "--test-batch-size", "unknown flag --test-batch-size (lockstep train"},
		{"train", "--val-batch-size", "unknown flag --val-batch-size (lockstep train"},
		{"train", "--eval-batch-size", "unknown flag --eval-batch-size (lockstep train"},
		{"train", "--per-device-eval-batch-size", "unknown flag --per-device-eval-batch-size (lock"},
		{"train", "--bs", `; did you mean "--batch"? it counts the samples of`},
		{"train", "--per_device_train_batch_size=8", `; did you mean "--batch"? it counts the samples of`},
		{"train", "--warmup_steps=100", `; did you mean "--warmup"? it counts epochs, not steps (`},
		{"train", "--accelerator=gpu", `; did you mean "--device"? an NVIDIA GPU is called cuda (`},
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
		{"launch", "--nproc-per-node=2", "; behind --, train takes --workers, the number on all hosts"},
		{"launch", "--workers=2", "; behind --, train takes --workers, the number on all hosts"},
		{"launch", "--num-workers=2", "; PyTorch's loader processes have no counterpart"},
		{"launch", "--batch-size=2", "; behind --, train takes --batch: it counts the samples of"},
		{"launch", "--lr=2", "; behind --, train takes --lr (lockstep launch"},
		{"launch", "--precision=16", "; behind --, to train: weights are float32"},
		{"launch", "--hostfil=a", `; did you mean "--hostfile"? (`},
		{"lab", "--nproc-per-node=2", "; behind --, train takes --workers, the number on all hosts"},
		{"generate slurm", "--nproc-per-node=2", `; did you mean "--workers"? (`},
		{"generate slurm", "--num-workers=2", "; PyTorch's loader processes have no counterpart"},
		{"generate k8s", "--batch-size=2", "; behind --, train takes --batch: it counts the samples"},
		{"run", "--workers=2", `; did you mean "--nproc-per-node"? (lockstep run`},
		{"run", "--batch_size=2", "; behind the command, train takes --batch: it counts the samples"},
		{"run", "--num-workers=2", "; PyTorch's loader processes have no counterpart"},
		{"commbench", "--nproc-per-node=2", `; did you mean "--ranks"? (`},
		{"commbench", "--workers=2", `; did you mean "--ranks"? (`},
		{"commbench", "--compression=bf16", `; did you mean "--codec"? (`},
		{"commbench", "--backend=gloo", `; did you mean "--link"? (`},
		{"commbench", "--num-workers=2", "unknown flag --num-workers (lockstep commbench"},
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

// All unknown flags of a line are named at once, with a hint each; those behind -- belong to no command yet.
func TestSeveralUnknownFlags(t *testing.T) {
	_, _, stderr := execute("train", "--bacth", "3", "--steps", "2", "--save-every=9", "--bacth", "--", "--x")
	want := `lockstep: unknown flag --bacth; did you mean "--batch"?` + "\n" +
		`lockstep: unknown flag --save-every; did you mean "--checkpoint-every"? ` +
		"(lockstep train --help-all lists all)\n"
	if stderr != want {
		t.Errorf("%q, want %q", stderr, want)
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
		{"launch --hosts a:2,b:2 -- ", "train bench commbench recipe", "launch"},
		{"launch --hosts a:2 -- train --model b", "bert-base bert-mini", "--model"},
		{"launch --hosts a:2 -- recipe r", "run", ""},
		{"launch --ho", "--hosts", ""},
		{"launch -- train --log", "", "--log"},
		{"run tr", "train", "bench"},
		{"run train --mo", "--model --momentum", ""},
		{"run --nproc-per-node 2 train --strategy ", "ddp ps", ""},
		{"run --max", "--max-restarts", ""},
		{"lab --hosts 4 -- bench --st", "--strategies", ""},
		{"lab -- train --seed 1 --shards 2 --model l", "lenet", ""},
		{"lab -- run train --schedule ", "cosine", ""},
		{"generate slurm -- train --model b", "bert-mini", ""},
		{"generate k8s --workers 2 -- ", "train recipe", "bench"},
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
