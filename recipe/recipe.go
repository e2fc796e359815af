package recipe

import (
	"bytes"
	"fmt"

	"lockstep/app/setting"
	"lockstep/optim"
)

// Recipe is a complete run by name.
type Recipe struct {
	Name string `json:"name"`
	// About says in a sentence what is trained, and after whom.
	About string `json:"about"`
	// Config has every setting; those that it leaves open follow the machine, and change no bit of
	// the result.
	Config setting.Config `json:"config"`
	// Substitute is the data set that is used, and named as such, where Config.Data is not found;
	// "" means that there is none.
	Substitute string `json:"substitute"`
	// Label is a caveat about the result; "" if there is none.
	Label string `json:"label"`
	// Goal is the accuracy on the test set that a run should reach, 0 to 1, and Reference whose it
	// is.
	Goal      float64 `json:"goal"`
	Reference string  `json:"reference"`
	// Figures are those of runs that were measured.
	Figures []Figure `json:"figures"`
}

// Figure is what a run of a recipe reached.
type Figure struct {
	Seed     uint64  `json:"seed"`
	Accuracy float64 `json:"accuracy"` // at the end, on all test samples
	// TrainSeconds is the training time, as record.Target defines it.
	TrainSeconds float64 `json:"train_seconds"`
	Machine      string  `json:"machine"` // processor and threads
	// Data is the set that the run was on, where that is the substitute; else "".
	Data string `json:"data"`
}

// xeon is the machine of figures: two virtual cores with AVX-512.
const xeon = "Xeon, 2 cores, AVX-512"

// xeonAmongBuilds is the same while builds and tests took most of its time: the accuracy counts, the time
// does not.
const xeonAmongBuilds = xeon + ", 2 threads, shared with builds and tests"

// zenAmongBuilds is another machine, likewise.
const zenAmongBuilds = "Zen 4, 2 cores, AVX-512, 2 threads, shared with builds and measurements"

// xeonShared is the same while other virtual machines took a part of its time that comes and goes.
const xeonShared = xeon + ", 2 threads, shared with other virtual machines"

// All returns the recipes in the order in which they are listed.
func All() []Recipe {
	return []Recipe{
		cifar10Airbench(),
		cifar10Muon(),
		cifar10VGG11(),
		cifar10ResNet20(),
		cifar10ResNet50(),
		svhnLeNet(),
		mnistLeNet(),
		sst2BERT(),
	}
}

// nesterov returns SGD with Nesterov's momentum of 0.9 and a weight decay of 5e-4.
func nesterov(rate float64) optim.Config {
	return optim.Config{Name: "sgd", LR: rate, Momentum: 0.9, Nesterov: true, WeightDecay: 5e-4}
}

// triangle returns a rate that climbs from start times the base rate until the part peak of the run, and then
// falls to end times.
func triangle(start, peak, end float64) optim.ScheduleConfig {
	return optim.ScheduleConfig{Name: "triangle",
		Triangle: optim.Triangle{Start: start, Peak: peak, End: end}}
}

// Named returns the recipe called name. It fails, with the nearest name, if there is none; the error
// is a *setting.UsageError.
func Named(name string) (Recipe, error) {
	for _, r := range All() {
		if r.Name == name {
			return r, nil
		}
	}
	return Recipe{}, unknown(name)
}

// YAML returns the recipe's settings that differ from the defaults, as a file for `lockstep train --config`,
// with goal, reference and figures as comments.
func (r Recipe) YAML() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s: %s.\n", r.Name, r.About)
	if r.Label != "" {
		fmt.Fprintf(&b, "# %s.\n", r.Label)
	}
	if r.Substitute != "" {
		fmt.Fprintf(&b, "# Where %s is not found, lockstep recipe run takes %s, and says so.\n",
			r.Config.Data, r.Substitute)
	}
	fmt.Fprintf(&b, "# Goal: test accuracy of %.4g %% (%s).\n", 100*r.Goal, r.Reference)
	for _, f := range r.Figures {
		on := ""
		if f.Data != "" {
			on = " on " + f.Data
		}
		fmt.Fprintf(&b, "# Measured%s with seed %d: %.2f %% after %.1f s of training, %s.\n", on, f.Seed,
			100*f.Accuracy, f.TrainSeconds, f.Machine)
	}
	if len(r.Figures) == 0 {
		fmt.Fprintf(&b, "# Not measured yet.\n")
	}
	b.Write(r.Config.Changes())
	return b.Bytes()
}
