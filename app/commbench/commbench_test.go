package commbench_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/app/commbench"
	"lockstep/cluster"
	"lockstep/comm"
)

// TestMain lets the test binary act as a rank.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "rank" {
		if err := commbench.Work(context.Background(), cluster.ProcessEnvironment()); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func config() commbench.Config {
	return commbench.Config{Operations: commbench.Operations(), Algorithms: []string{"auto", "ring"},
		Codecs: []string{"fp32"}, Streams: []int{1}, Links: commbench.Links(), Ranks: []int{2, 3},
		Bytes: []int{4, 8 << 10, 24<<10 + 4}, Repeats: 3}
}

// Every operation passes its check on every link, and was counted as the formula has it.
func TestRun(t *testing.T) {
	c := config()
	shown := -1
	records, err := commbench.Run(t.Context(), c, commbench.Options{
		Environment: cluster.ProcessEnvironment(), Worker: []string{os.Args[0], "rank"},
		Progress: func(done, all int, what string) {
			if done < shown || done > all || what == "" {
				t.Errorf("progress %d of %d (%s) after %d", done, all, what, shown)
			}
			shown = done
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	perGroup := 2*3 + 6*3 + 1
	if want := perGroup * len(c.Links) * len(c.Ranks); len(records) != want || shown != want {
		t.Fatalf("%d records, progress to %d, want %d", len(records), shown, want)
	}
	for _, r := range records {
		if r.Repeats != 3 || len(r.Samples) != 3 || r.Seconds.P10 <= 0 ||
			!slices.IsSorted([]float64{r.Seconds.P10, r.Seconds.Median, r.Seconds.P90}) {
			t.Errorf("%+v", r)
		}
		if r.Sent != r.Formula {
			t.Errorf("%s %s, %s, %d ranks, %d bytes: sent %d, formula %d", r.Operation, r.Algorithm, r.Link,
				r.Ranks, r.Bytes, r.Sent, r.Formula)
		}
		if hasBandwidth := r.Bus > 0; hasBandwidth != (r.Bytes > 0) {
			t.Errorf("%+v: bandwidth without bytes or the reverse", r)
		}
	}
}

// The formula is what is counted for every algorithm, codec of fixed length and number of ranks, also where
// nothing divides and a second segment has a schedule of its own.
func TestFormulaIsWhatIsCounted(t *testing.T) {
	for _, codec := range []string{"fp32", "bf16", "int8"} {
		c := commbench.Config{Operations: []string{"all-reduce"}, Codecs: []string{codec},
			Algorithms: append(comm.Algorithms(), "auto"), Links: []string{"local"}, Ranks: []int{3, 6},
			Streams: []int{1},
			Bytes:   []int{350_004, 1<<20 + 4*1013}, Repeats: 1}
		if codec == "int8" {
			c.Algorithms = []string{"auto", "direct", "gather", "one-shot"}
		}
		records, err := commbench.Run(t.Context(), c, commbench.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if r.Sent != r.Formula {
				t.Errorf("%s %s, %s, %d ranks, %d bytes: sent %d, formula %d", r.Asked, r.Algorithm, codec,
					r.Ranks, r.Bytes, r.Sent, r.Formula)
			}
		}
	}
}

func TestInterrupt(t *testing.T) {
	for _, link := range commbench.Links() {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		c := config()
		c.Links, c.Repeats = []string{link}, 1000 // minutes
		began := time.Now()
		_, err := commbench.Run(ctx, c, commbench.Options{
			Environment: cluster.ProcessEnvironment(), Worker: []string{os.Args[0], "rank"},
		})
		cancel()
		if took := time.Since(began); err == nil || took > time.Minute {
			t.Errorf("%s: an interrupted run ended after %v with %v", link, took, err)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		change func(c *commbench.Config)
		want   string
	}{
		{func(c *commbench.Config) {}, ""},
		{func(c *commbench.Config) { c.Operations = []string{"all-reduse"} }, "all-reduse"},
		{func(c *commbench.Config) { c.Algorithms = nil }, "no algorithm"},
		{func(c *commbench.Config) { c.Links = []string{"rdma"} }, "rdma"},
		{func(c *commbench.Config) { c.Ranks = []int{1} }, "from 2"},
		{func(c *commbench.Config) { c.Ranks = []int{1000} }, "to 64"},
		{func(c *commbench.Config) { c.Bytes = []int{6} }, "multiples of 4"},
		{func(c *commbench.Config) { c.Bytes = []int{0} }, "multiples of 4"},
		{func(c *commbench.Config) { c.Repeats = 0 }, "repeats"},
	} {
		c := config()
		test.change(&c)
		err := c.Validate()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}
