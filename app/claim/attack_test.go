package claim_test

import "slices"

// intervalCases are about intervals beside figures.
func intervalCases() []example {
	const wrong = "refused interval"
	once := []string{"note one repeat"}
	columns := func(a, b string) string {
		return "strategy,workers,step ms,low,high\nsingle,1," + a + "\nddp,2," + b + "\n"
	}
	parts := func(a, b string) string {
		return "strategy,workers,total s,network time s,low,high\nsingle,1,40," + a + "\nddp,2,22," + b + "\n"
	}
	minutes := func(a, b string) string {
		return "strategy,total min,network time s,low,high\nsingle," + a + ",180,35,45\n" +
			"ddp," + b + ",150,19,25\n"
	}
	bare := func(ends string) string {
		return "strategy,step ms,forward,sync,low,high\nsingle,40 ± 1,30,3," + ends + "\n"
	}
	pairs := func(ends string) string {
		return "strategy,workers,step ms,sync ms,low,high,low,high\nsingle,1,100,30,97,108,29,31\n" +
			"ddp,2,56,20,55,57," + ends + "\n"
	}
	units := func(ends string) string {
		return "strategy,workers,step,low,high\nsingle,1,100 ms,99,101\nddp,2,56 ms," + ends + "\n"
	}
	cell := func(a, b string) string {
		return "strategy,workers,step ms\nsingle,1," + a + "\nddp,2," + b + "\n"
	}
	return []example{
		{"intervals in percent and as fractions",
			"strategy,workers,accuracy %,CI,repeats\nsingle,1,92.0,\"[91.0, 93.0]\",3\n" +
				"ddp,2,91.5,\"[0.905, 0.925]\",3\n", nil},
		{"ends in percent and as fractions", "strategy,workers,accuracy %,low,high,repeats\n" +
			"single,1,92.0,0.91,0.93,3\nddp,2,91.5,90.5,92.5,3\n", nil},
		{"an end in percent that is no fraction", "strategy,workers,accuracy %,low,high,repeats\n" +
			"single,1,45.5,44,47,3\nddp,2,45,0.5,47,3\n", nil},
		{"a fraction beside another figure", "strategy,workers,accuracy %,CI,repeats\n" +
			"single,1,92.0,\"[91.0, 93.0]\",3\nddp,2,91.5,\"[0.935, 0.955]\",3\n", []string{wrong}},
		{"ends of the step behind its speed-up", "strategy,workers,step ms,speed-up,min–max\n" +
			"single,1,10.2,1,10.1–10.3\nddp,2,6.2,1.65,6.1–6.3\n", nil},
		{"ends of neither the step nor its speed-up", "strategy,workers,step ms,speed-up,min–max\n" +
			"single,1,10.2,1,10.1–10.3\nddp,2,6.2,1.65,6.5–6.9\n", []string{wrong, once[0]}},
		{"a median beyond its runs", "strategy,workers,step ms,\"runs, ms\"\nsingle,1,10.2,10.1 10.3\n" +
			"ddp,2,5.2,6.1 6.3\n", []string{wrong}},
		{"a median of runs that do not count", "strategy,workers,step ms,\"runs, ms\"\n" +
			"single,1,10.2,10.1 10.3 (14)\nddp,2,6.2,6.1 6.3\n", nil},
		{"shares of spread with a space", cell("10.1 ± 2 %", "6.1 ± 2 %"), nil},
		{"shares of spread with a space and units", cell("10.1 ms ± 2 %", "6.1 ms ± 2 %"), nil},
		{"columns that hold their figure", columns("100,99,101", "56,55,57"), nil},
		{"columns above their figure", columns("100,101,103", "56,55,57"), []string{wrong}},
		{"columns far from their figure", columns("100,10,20", "56,155,157"), []string{wrong}},
		{"columns upside down", columns("100,110,90", "56,60,50"), []string{wrong}},
		{"a low end above the figure", "strategy,step ms,low\nsingle,100,120\nddp,56,54\n",
			[]string{wrong, "note one repeat"}},
		{"ends that are rounded", columns("100.4,100,101", "55.8,56,57"), nil},
		{"a mean beyond its quantiles",
			"strategy,workers,step ms,p10,p90\nsingle,1,100,60,90\nddp,2,56,30,40\n", nil},
		{"least times beside a rate", "strategy,workers,samples/s,min ms,max ms\nsingle,1,640 ± 5,95,105\n" +
			"ddp,2,1143 ± 9,54,58\n", nil},
		{"ends of the network's time", parts("3,2.9,3.1", "4,3.9,4.1"), once},
		{"ends far from the network's time", parts("3,3.7,3.9", "4,3.9,4.1"), []string{wrong, once[0]}},
		{"its ends upside down", parts("3,3.1,2.9", "4,3.9,4.1"), []string{wrong, once[0]}},
		{"ends of the total behind the network's time", parts("3,39,41", "4,21,23"), nil},
		{"ends of it that do not hold", parts("3,39,39.5", "4,21,23"), []string{wrong}},
		{"ends in milliseconds", "strategy,workers,total s,network time s,low ms,high ms\n" +
			"single,1,40,3,2900,3100\nddp,2,22,4,3900,4100\n", once},
		{"ends of the network's time alone", "strategy,network time s,low,high,total s\n" +
			"single,3,3.7,3.9,40 ± 1\nddp,4,3.9,4.1,22 ± 1\n", []string{wrong}},
		{"ends of a phase", "strategy,step ms,forward ms,sync ms,low,high\nsingle,40 ± 1,30,3,2.9,3.1\n" +
			"ddp,22 ± 1,15,4,3.9,4.1\n", nil},
		{"ends of the step behind its phases", "strategy,step ms,forward ms,sync ms,low,high\n" +
			"single,40,30,3,39,41\nddp,22,15,4,21,23\n", nil},
		{"ends of the step behind a phase that is nearer to one of them",
			"strategy,workers,step ms,compute ms,low,high\nsingle,1,100,95,97,108\nddp,2,56,53,54,61\n", nil},
		{"ends of minutes behind seconds of the network", minutes("40", "22"), nil},
		{"ends of minutes that do not hold", minutes("50", "22"), []string{wrong}},
		{"ends of a phase without a unit", bare("2.9,3.1"), nil},
		{"ends far from a phase without a unit", bare("3.7,3.9"), []string{wrong}},
		{"ends of the step behind phases without a unit", bare("39,41"), nil},
		{"ends in percent of a phase", "strategy,step ms,forward,sync,low,high\n" +
			"single,40 ± 1,90 %,10 %,9,11\nddp,22 ± 1,80 %,20 %,19,21\n", nil},
		{"ends far from a phase in percent", "strategy,step ms,forward,sync,low,high\n" +
			"single,40 ± 1,90 %,10 %,12,14\nddp,22 ± 1,80 %,20 %,19,21\n", []string{wrong}},
		{"a lower end alone behind a phase", "strategy,step ms,compute ms,min\nsingle,100 ± 1,60,75\n" +
			"ddp,56 ± 1,30,43\n", nil},
		{"ends of the step, then of a phase", pairs("19,21"), nil},
		{"ends of the step, then wrong ones of a phase", pairs("23,25"), []string{wrong}},
		{"ends without the unit of their figure", units("55,57"), nil},
		{"ends without a unit that do not hold", units("65,67"), []string{wrong}},
		{"a deviation without the unit of its figure", "strategy,step,std,runs\nsingle,100 ms,2,5\n" +
			"ddp,97 ms,2,5\n# ddp is faster than single.\n", []string{"refused winner"}},
		{"a network's time outside its interval", "strategy,total s,network time s\n" +
			"single,40 ± 1,3 (3.7–3.9)\nddp,22 ± 1,4 (3.9–4.1)\n", []string{wrong}},
		{"an interval in a cell", cell("100 (98–103)", "56 (55–57)"), nil},
		{"a cell outside its interval", cell("100 (10–20)", "56 (55–57)"), []string{wrong}},
		{"a cell with its interval upside down", cell("100 (103–98)", "56 (55–57)"), []string{wrong}},
		{"a range upside down", cell("105–95", "58–55"), []string{wrong}},
		{"a speed-up outside its interval", "| workers | step ms | speed-up |\n|---|---|---|\n" +
			"| 1 | 100 ± 1 | 1 |\n| 2 | 56 ± 1 | 1.79 (2.0–2.3) |\n", []string{wrong}},
		{"a speed-up inside it", "| workers | step ms | speed-up |\n|---|---|---|\n| 1 | 100 ± 1 | 1 |\n" +
			"| 2 | 56 ± 1 | 1.79 (1.7–1.9) |\n", nil},
		{"thousands with an interval", "strategy,samples/s\nsingle,1.2k (1.1–1.3)\nddp,2.3k (2.2–2.4)\n",
			nil},
	}
}

// unmeasuredCases are about more words for figures that nobody measured.
func unmeasuredCases() []example {
	rows := func(four string) string {
		return "| workers | step ms | speed-up |\n|---|---|---|\n| 1 | 100 ± 1 | 1 |\n" +
			"| 2 | 56 ± 1 | 1.79 |\n| " + four + " | 33 ± 1 | 3.03 |\n\n"
	}
	bad := []string{"refused projections"}
	said := func(text string, want ...string) example {
		return example{text, rows("4") + text + "\n", append(want, "not checked")}
	}
	out := []example{
		{"four workers, measured", rows("4"), nil},
		said("Values for 4 workers were computed, not measured.", bad...),
		said("The results for 4 and 8 workers were extrapolated.", bad...),
		said("Times at 4 workers were not measured.", bad...),
		said("The values for 8 workers were computed, not measured."),
		said("Speed-ups for 4 workers were computed from the medians."),
		said("The values for 4 workers were estimated before they were measured."),
		said("The figures for 2 and 4 workers were measured three times."),
		said("The measurements with 4 workers were not run on an idle machine."),
		said("Times at 4 workers were not measured at all.", bad...),
		said("The times for 4 workers are predicted within 3 % by the model."),
		said("The times for 4 workers are predicted by the model.", bad...),
		said("Times at 4 workers were not measured, as we lacked nodes.", bad...),
		{"an assumption about another figure", rows("4") + "\n| quantity | ours |\n|---|---|\n" +
			"| total s | 5 (assumed); 6 by 2 |\n", nil},
		{"a caption that assumes something", "We assumed a cold cache.\n\n" + rows("4"),
			[]string{"not checked"}},
	}
	for _, word := range []string{"theoretical", "modelled", "modeled", "assumed", "estimated", "expected",
		"predicted", "interpolated", "simulated", "computed"} {
		out = append(out, example{"4 (" + word + ")", rows("4 (" + word + ")"), bad})
	}
	return out
}

// readingCases are about lengths of epochs, rates in thousands, speed-ups in percent, italics and overlap.
func readingCases() []example {
	const wrong = "refused wrong denominators"
	epochs := func(step string) string {
		return "strategy,workers,batch,epoch s,step ms,samples\nsingle,1,64,100 ± 1,100 ± 1,50000\n" +
			"ddp,2,64,56 ± 1," + step + " ± 1,50000\n"
	}
	rate := func(two string) string {
		return "strategy,workers,throughput (k samples/s),batch,step ms\nsingle,1,0.64,64,100 ± 1\n" +
			"ddp,2," + two + ",64,56 ± 1\n"
	}
	gain := func(one, two string) string {
		return "strategy,workers,step ms,speedup %\nsingle,1,100 ± 1," + one + "\nddp,2,56 ± 1," + two + "\n"
	}
	hidden := func(ms string) string {
		return "strategy,workers,step ms,exposed ms,hidden ms\nsingle,1,100 ± 1,0,0\nddp,2,56 ± 1,10," + ms +
			"\n# ddp overlaps communication with computation.\n"
	}
	const plain = "strategy,workers,step ms\nsingle,1,100 ± 1\nddp,2,56 ± 1\n# "
	return []example{
		{"an epoch of its steps", epochs("70"), nil},
		{"an epoch shorter than its steps", epochs("90"), []string{wrong}},
		{"an epoch of steps by the text", "strategy,workers,batch,epoch s,step ms\nddp,2,64,56 ± 1,90 ± 1\n" +
			"# There are 50,000 training images.\n", []string{wrong, "not checked"}},
		{"an epoch of a part of the data", "strategy,workers,batch,epoch s,step ms\n" +
			"ddp,2,64,56 ± 1,90 ± 1\n# There are 50,000 training images. We train on 5,000 of them.\n",
			[]string{"not checked", "not checked"}},
		{"an epoch of a part, in one sentence", "strategy,workers,batch,epoch s,step ms\n" +
			"ddp,2,64,56 ± 1,90 ± 1\n# Of the 50,000 training images we use only 5,000 images.\n",
			[]string{"not checked"}},
		{"samples of the whole run", "strategy,workers,batch,epoch s,step ms,samples,total s\n" +
			"single,1,64,10 ± 1,100,64000,100 ± 1\n", nil},
		{"many epochs of equal work", "strategy,workers,batch,steps,total s,epoch s\n" +
			"ddp,2,32,400,1.84 ± 0.01,0.0482\nlocal-sgd,2,32,400,0.45 ± 0.01,0.00994\n",
			[]string{"note one repeat"}},
		{"a batch of each worker", "strategy,workers,batch,epoch s,step ms,samples\n" +
			"ddp,4,64,20 ± 1,100,51200\n",
			[]string{"note wrong denominators"}},
		{"a rate in thousands", rate("1.143"), nil},
		{"a wrong rate in thousands", rate("1.9"), []string{wrong}},
		{"a gain in percent", gain("0", "79"), nil},
		{"a wrong gain in percent", gain("0", "95"), []string{wrong}},
		{"a speed in percent", gain("100", "179"), nil},
		{"a wrong speed in percent", gain("100 %", "150 %"), []string{wrong}},
		{"percent of something", gain("", "79"), nil},
		{"italics", plain + "ddp is *1.79x* faster than _single_. *ddp* is 1.79x as fast as *single*.\n",
			[]string{"holds", "holds"}},
		{"a wrong factor in italics", plain + "ddp is *1.95x* faster than single.\n", []string{wrong}},
		{"a wrong factor beside names in italics", plain + "*ddp* is 1.95x faster than _single_.\n",
			[]string{wrong}},
		{"names with underscores", "strategy,workers,step ms\nall_reduce_,2,100 ± 1\n_ddp,2,56 ± 1\n" +
			"# _ddp is 1.79x faster than all_reduce_.\n", []string{"holds"}},
		{"cells in italics", "| strategy | step ms |\n|---|---|\n| *ring* | *100 ± 1* |\n" +
			"| _ddp_ | 56 ± 1 |\n\nddp is 1.79x faster than ring.\n", []string{"holds"}},
		{"overlap of nothing", hidden("0"), []string{"refused cause"}},
		{"overlap of something", hidden("12"), []string{"not checked"}},
	}
}

func attackCases() []example {
	return slices.Concat(roundingCases(), intervalCases(), unmeasuredCases(), readingCases())
}
