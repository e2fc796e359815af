package report_test

import (
	"strings"
	"testing"

	"lockstep/app/record"
	"lockstep/app/report"
)

// overHosts returns results of a sweep over hosts: one to three hosts with one and two workers each, every
// host with so many cores of its own, or 0: in a lab.
func overHosts(coresOfEach int) *record.Results {
	r := only(sample(), "lenet")
	r.Rows = nil
	for hosts := 1; hosts <= 3; hosts++ {
		for per := 1; per <= 2; per++ {
			s := sampleRow{"lenet", "gather-scatter", hosts * per, 1, 0.0088 / float64(hosts*per), 0.0008, ""}
			if s.workers == 1 {
				s.strategy, s.exchange = "single", 0
			}
			row := s.row(uint64(s.workers))
			row.Setting.Hosts, row.Setting.PerHost, row.Setting.Cores = hosts, per, hosts*coresOfEach
			r.Rows = append(r.Rows, row)
		}
	}
	for i := range r.Rows {
		for j := range r.Rows[i].Runs {
			r.Rows[i].Runs[j].Position = j*len(r.Rows) + i
		}
	}
	if coresOfEach == 0 {
		r.Lab = "--hosts=3"
	}
	return r
}

// A sweep over hosts has a curve for each number of workers of a host, under the letters of its rows, over
// numbers of workers in scale.
func TestScalingOverHosts(t *testing.T) {
	folder := t.TempDir()
	if err := report.Benchmark(overHosts(2)).Write(folder); err != nil {
		t.Fatal(err)
	}
	page := read(t, folder, report.HTMLFile)
	figure := page[strings.Index(page, `<figure id="g1-speedup"`):]
	figure = figure[:strings.Index(figure, "</figure>")]
	for _, want := range []string{"<b>B D F</b> gather-scatter 2 a host<",
		"<b>C E</b> gather-scatter 1 a host<"} {
		if !strings.Contains(figure, want) {
			t.Errorf("the figure lacks %q:\n%.3000s", want, figure[strings.Index(figure, "</svg>"):])
		}
	}
	if text := read(t, folder, report.MarkdownFile); !strings.Contains(text, "6 cores on 3 hosts") {
		t.Errorf("the cores of the hosts are not told: %.300s", text)
	}
	lab := render(t, asPage, overHosts(0))
	for _, want := range []string{"3 hosts simulated by one machine of 2 cores"} {
		if !strings.Contains(lab, want) {
			t.Errorf("the report of a lab lacks %q", want)
		}
	}
}
