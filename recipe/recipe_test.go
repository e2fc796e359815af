package recipe_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"lockstep/app/setting"
	"lockstep/recipe"
)

var isUpdate = flag.Bool("update", false, "rewrite the golden files")

// What each recipe says and sets stays as it is in testdata; the file alone gives the same run.
func TestRecipesAreWhatTheirFilesSay(t *testing.T) {
	for _, r := range recipe.All() {
		if err := r.Config.Validate(); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
		path := filepath.Join("testdata", r.Name+".yaml")
		if *isUpdate {
			if err := os.WriteFile(path, r.YAML(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != string(r.YAML()) {
			t.Errorf("%s: not what %s says (go test ./recipe -update rewrites it)", r.Name, path)
		}
		c, _, err := setting.Resolve(setting.Source{File: path})
		if err != nil || !reflect.DeepEqual(c, r.Config.Complete()) {
			t.Errorf("%s: the file sets\n%+v, want\n%+v; %v", r.Name, c, r.Config.Complete(), err)
		}
	}
}

// Flags change single settings of a recipe, and a length given anew replaces its own.
func TestVariants(t *testing.T) {
	r, err := recipe.Named("cifar10-94")
	if err != nil {
		t.Fatal(err)
	}
	c, origins, err := setting.Resolve(setting.Source{Base: &r.Config, BaseName: "recipe " + r.Name,
		Flags: map[string]string{"epochs": "3", "seed": "7"}})
	if err != nil {
		t.Fatal(err)
	}
	want := r.Config
	want.Steps, want.Epochs, want.Seed = 0, 3, 7
	if !reflect.DeepEqual(c, want.Complete()) {
		t.Errorf("resolved to\n%+v, want\n%+v", c, want.Complete())
	}
	for name, origin := range map[string]string{"model": "recipe cifar10-94", "epochs": "--epochs",
		"steps": "default", "seed": "--seed", "optimizer": "default"} {
		if origins[name] != origin {
			t.Errorf("%s comes from %q, want %q", name, origins[name], origin)
		}
	}
}

func TestNoSuchRecipe(t *testing.T) {
	_, err := recipe.Named("lenet-mnst")
	var usage *setting.UsageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), `did you mean "lenet-mnist"?`) {
		t.Errorf("error %v", err)
	}
}

// The figures of a recipe reach its goal in the mean.
func TestFiguresReachTheGoal(t *testing.T) {
	for _, r := range recipe.All() {
		sum := 0.0
		for _, f := range r.Figures {
			sum += f.Accuracy
			if f.Data != "" && f.Data != r.Substitute {
				t.Errorf("%s: a figure on %s", r.Name, f.Data)
			}
		}
		if n := float64(len(r.Figures)); n > 0 && sum/n < r.Goal {
			t.Errorf("%s: %v in the mean, goal %v", r.Name, sum/n, r.Goal)
		}
	}
}

// Both kinds of recipes are found by name, and no name is used twice.
func TestComparisons(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range recipe.Names() {
		if seen[name] {
			t.Errorf("%s is listed twice", name)
		}
		seen[name] = true
	}
	for _, c := range recipe.Comparisons() {
		found, ok := recipe.ComparisonNamed(c.Name)
		if !ok || found != c || c.About == "" || !strings.HasPrefix(c.Plan, "# "+c.Name+": ") {
			t.Errorf("%s: found %v, %+v", c.Name, ok, found)
		}
	}
	if _, ok := recipe.ComparisonNamed("lenet-mnist"); ok {
		t.Error("a run is found as a benchmark")
	}
}
