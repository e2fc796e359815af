package foreign_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/cluster"
	"lockstep/cluster/foreign"
)

// variables turns "A=1 B=2" into an environment.
func variables(text string) cluster.Environment {
	e := cluster.Environment{}
	for pair := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(pair, "=")
		e[name] = value
	}
	return e
}

const openMPI = "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=1"

// placeTest is an environment and the place it gives, from testdata/place.txt.
type placeTest struct{ name, environment, want string }

func placeTests(t testing.TB) []placeTest {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "place.txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, blocks, _ := strings.Cut(string(text), "\n\n") // after the comment
	var tests []placeTest
	for block := range strings.SplitSeq(strings.TrimSpace(blocks), "\n\n") {
		name, rest, _ := strings.Cut(block, "\n")
		environment, want, found := strings.Cut(rest, "-> ")
		if !found {
			t.Fatalf("%s: no place", name)
		}
		tests = append(tests, placeTest{name, environment, want})
	}
	if len(tests) < 80 {
		t.Fatalf("%d environments", len(tests))
	}
	return tests
}

func TestPlace(t *testing.T) {
	for _, test := range placeTests(t) {
		t.Run(test.name, func(t *testing.T) {
			p, err := foreign.Place(variables(test.environment))
			parts, isError := strings.CutPrefix(test.want, "error ")
			if isError {
				checkRefusal(t, err, parts)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := "alone"
			if p.IsSeveral() {
				got = fmt.Sprintf("%s %d/%d %d/%d %d/%d %s %s", p.Launcher, p.Rank, p.World, p.LocalRank,
					p.LocalWorld, p.Node, p.Nodes, p.Address, p.Job)
				got = strings.Join(strings.Fields(got), " ")
			}
			if !strings.HasPrefix(got+" ", test.want+" ") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// checkRefusal checks that err is one line of an EnvironmentError with the words of want in order.
func checkRefusal(t *testing.T, err error, want string) {
	t.Helper()
	var wrong *cluster.EnvironmentError
	if !errors.As(err, &wrong) {
		t.Fatalf("got %v, want an EnvironmentError", err)
	}
	rest := err.Error()
	for word := range strings.FieldsSeq(want) {
		_, after, found := strings.Cut(rest, word)
		if !found {
			t.Fatalf("%q does not have %q in this order", err, want)
		}
		rest = after
	}
	if strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
		t.Errorf("%q is no line to read", err)
	}
}

// A command that cannot share its work says what started it and how to start it all the same.
func TestCheckAlone(t *testing.T) {
	for _, environment := range []string{"", "RANK=0 WORLD_SIZE=1", "--workers=4"} {
		if err := foreign.CheckAlone(variables(environment)); err != nil {
			t.Errorf("%s: %v", environment, err)
		}
	}
	checkRefusal(t, foreign.CheckAlone(variables(openMPI)), "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 "+
		"Open MPI started this command as one of 2 processes env -u OMPI_COMM_WORLD_RANK")
	checkRefusal(t, foreign.CheckAlone(variables("RANK=1")), "RANK=1")
}

// FuzzPlace looks for variables that make a place impossible.
func FuzzPlace(f *testing.F) {
	for _, test := range placeTests(f) {
		f.Add(test.environment)
	}
	f.Fuzz(func(t *testing.T, environment string) {
		p, err := foreign.Place(variables(environment))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q is more than a line", err)
			}
			return
		}
		isIn := func(number, count int) bool { return 0 <= number && number < count }
		if !isIn(p.Rank, p.World) || p.LocalWorld > 0 && !isIn(p.LocalRank, p.LocalWorld) ||
			p.Nodes > 0 && !isIn(p.Node, p.Nodes) || p.LocalWorld > p.World || p.Nodes > p.World {
			t.Fatalf("%+v", p)
		}
	})
}

// Only in a shell of Slurm are there tasks that srun would start.
func TestUnstartedTasks(t *testing.T) {
	for environment, want := range map[string]int{
		"": 0,
		"SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=4":                                        4,
		"SLURM_JOB_ID=7 SLURM_NTASKS=4":                                                       4,
		"SLURM_JOB_ID=7 SLURM_NTASKS=1":                                                       0,
		"SLURM_JOB_ID=7 SLURM_NTASKS=many":                                                    0,
		"SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 SLURM_NTASKS=4": 0,
	} {
		if got := foreign.UnstartedTasks(variables(environment)); got != want {
			t.Errorf("%s: %d, want %d", environment, got, want)
		}
	}
}
