package rundir_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"lockstep/app/rundir"
)

// A folder belongs to one run: a second one is refused.
func ExampleClaim() {
	folder, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "mine")
	dir, err := rundir.Claim(path)
	if err != nil {
		log.Fatal(err)
	}
	defer dir.Unlock()
	_, err = rundir.Claim(path)
	fmt.Println(err != nil, filepath.Base(dir.Path(rundir.StepsFile)))
	// Output: true steps.jsonl
}
