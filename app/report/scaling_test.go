package report_test

import (
	"fmt"
	"regexp"
	"slices"
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
	for _, want := range []string{"<b>B D F</b> gather-scatter 2 a host",
		"<b>C E</b> gather-scatter 1 a host", "so it ends at the cores of the row’s hosts"} {
		if !strings.Contains(figure, want) {
			t.Errorf("the figure lacks %q:\n%.3000s", want, figure[strings.Index(figure, "</svg>"):])
		}
	}
	place := regexp.MustCompile(`<text x="([\d.]+)" y="[\d.]+" class="tick" text-anchor="middle">(\d)</text>`)
	var at []float64
	for _, m := range place.FindAllStringSubmatch(figure[:strings.Index(figure, "</svg>")], -1) {
		var x float64
		if _, err := fmt.Sscan(m[1], &x); err != nil {
			t.Fatal(err)
		}
		at = append(at, x)
	}
	// 1, 2, 3, 4 and 6 workers: from 4 to 6 it is twice as far as from 3 to 4.
	if len(at) != 5 || !(at[4]-at[3] > 1.9*(at[3]-at[2]) && at[4]-at[3] < 2.1*(at[3]-at[2])) {
		t.Errorf("workers stand at %v", at)
	}
	if text := read(t, folder, report.MarkdownFile); !strings.Contains(text, "6 cores on 3 hosts") {
		t.Errorf("the cores of the hosts are not told: %.300s", text)
	}
	if !strings.Contains(page, "Machine of rank 0, one of several") {
		t.Error("the machine of one host is described as that of all")
	}
	lab := render(t, report.HTML, overHosts(0))
	for _, want := range []string{"2 cores, shared by 3 hosts of a lab",
		"it ends at the cores of this machine"} {
		if !strings.Contains(lab, want) {
			t.Errorf("the report of a lab lacks %q", want)
		}
	}
}

// Rows that fill the hosts of a list stay one curve, although not all have equally many workers of a host.
func TestFilledHostsAreOneCurve(t *testing.T) {
	r := overHosts(4)
	r.Rows = slices.Delete(r.Rows, 2, 3)                      // two workers on two hosts
	r.Rows[3].Setting.Hosts, r.Rows[3].Setting.PerHost = 2, 0 // three workers: two and one
	page := render(t, report.HTML, r)
	if !strings.Contains(page, "<b>B…E</b> gather-scatter<") {
		t.Error("the rows are not one curve")
	}
}

// The names of rows in the picture keep what tells layouts apart, however long the strategy is.
func TestLongNamesKeepTheirHosts(t *testing.T) {
	r := overHosts(2)
	for i := range r.Rows {
		r.Rows[i].Setting.Options = "wire=top-k:0.01+bucket=512KiB"
	}
	page := render(t, report.HTML, r)
	figure := page[strings.Index(page, `<figure id="g1-steps"`):]
	figure = figure[:strings.Index(figure, "</figure>")]
	label := regexp.MustCompile(`class="name"[^>]*>([A-F])  ([^<]*)<`)
	for _, name := range label.FindAllStringSubmatch(figure, -1) {
		if !regexp.MustCompile(`\d×1 on \d hosts?`).MatchString(name[2]) {
			t.Errorf("row %s: %q", name[1], name[2])
		}
	}
}
