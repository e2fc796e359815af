package generate_test

import (
	"fmt"
	"strings"
	"time"

	"lockstep/app/generate"
)

func Example() {
	script := generate.Slurm(generate.Config{Name: "lenet", Command: []string{"train"}, Hosts: 1, Workers: 4,
		Cores: 1, Runs: "runs", Grace: time.Minute})
	for line := range strings.Lines(script) {
		if strings.Contains(line, "ntasks") || strings.Contains(line, "signal") {
			fmt.Print(line)
		}
	}
	// Output:
	// #SBATCH --ntasks-per-node=4
	// #SBATCH --signal=USR1@60
}
