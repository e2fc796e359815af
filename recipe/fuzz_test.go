package recipe_test

import (
	"errors"
	"strings"
	"testing"

	"lockstep/app/setting"
	"lockstep/recipe"
)

func FuzzNamed(f *testing.F) {
	f.Add("cifar10-94")
	f.Add("lenet-minst")
	f.Fuzz(func(t *testing.T, name string) {
		r, err := recipe.Named(name)
		var usage *setting.UsageError
		if err == nil && r.Name != name || err != nil && !errors.As(err, &usage) ||
			err != nil && strings.Contains(err.Error(), "\n") {
			t.Fatalf("%q: %q, %v", name, r.Name, err)
		}
	})
}
