package claim_test

import (
	"strings"
	"testing"
)

// Tables of Markdown, with a speed-up that the times give and with one that they do not.
const (
	heads  = "| strategy | workers | step ms | speed-up |\n|---|---|---|---|\n"
	sound  = heads + "| single | 1 | 100 ± 1 | 1 |\n| ddp | 4 | 50 ± 1 | 2 |\n"
	faulty = heads + "| single | 1 | 100 ± 1 | 1 |\n| ddp | 4 | 50 ± 1 | 3.9 |\n"
)

// hiddenCases are about code blocks and comments. A table that is shown counts, one that is not does not.
func hiddenCases() []example {
	wrong := []string{"refused wrong denominators"}
	return []example{
		{"a fence inside one of the other kind", "Code:\n\n~~~\n```\n~~~\n" + faulty, wrong},
		{"a fence inside a longer one", "Code:\n\n````\n```\n````\n" + faulty, wrong},
		{"two fences in a block of the other kind", "Code:\n\n```\nx\n~~~\n~~~\n~~~\n```\n" + faulty,
			wrong},
		{"a fence that is longer than its own", "Code:\n\n```sh\nx\n`````\n" + faulty, wrong},
		{"a fence with a backtick behind it", "Code:\n\n``` `x` ```\n\n" + faulty, wrong},
		{"code in a list", "- Run\n\n  ```\n  x\n  ```\n\n" + faulty, wrong},
		{"code behind a bullet", "- ```\n  x\n  ```\n\n" + faulty, wrong},
		{"a list's code that its end closes", "- ```\n  x\n" + faulty, wrong},
		{"a fence set in as code", "Code:\n\n    ```\n\n" + faulty + "\n    ```\n", wrong},
		{"a table in code", "Code:\n\n```\n" + faulty + "```\n\n" + sound, nil},
		{"a table in a comment", "<!--\n" + faulty + "-->\n" + sound, nil},
		{"a table behind a comment", "<!-- a\nb -->\n" + faulty, wrong},
		{"a sentence in a comment", sound + "\n<!-- ddp is 3x faster than single. -->\nddp is 2x " +
			"faster than " +
			"single.\n", []string{"holds"}},
		{"a sentence behind a comment", sound + "\n<!-- a\nb --> ddp is 3x faster than single.\n", wrong},
		{"comments within a sentence", sound + "\nddp is <!-- 3x --> 2x <!-- or\nso --> faster than " +
			"single.\n",
			[]string{"holds"}},
		{"an empty comment", "<!-->\n\n" + faulty + "\n-->\n", wrong},
		{"a comment that its paragraph does not close", "See <!-- there\n\n" + faulty + "\n-->\n",
			append(wrong, "not checked")},
		{"a fence in a comment", "<!--\n```\n-->\n" + faulty, wrong},
		{"a comment in code", "Code:\n\n```\n<!--\n```\n" + faulty, wrong},
	}
}

// unitCases are about figures that are no time, and about other people's quantities.
func unitCases() []example {
	return []example{
		{"bytes of a step", "wire,workers,bytes per step,step ms\nfp32,2,12.3 MB,60 ± 1\nbf16,2,6.15 " +
			"MB,50 ± 1\n" +
			"# bf16 is 2x faster than fp32.\n", []string{"refused wrong denominators"}},
		{"bytes alone", "wire,workers,bytes per step\nfp32,2,12.3 MB\nbf16,2,6.15 MB\n" +
			"# bf16 is the fastest. bf16 takes 6.15 s a step.\n", []string{"not checked", "not checked"}},
		{"samples of a step", "strategy,workers,samples per step,step ms,samples/s\nsingle,1,64,100 ± " +
			"1,640\n" +
			"ddp,2,64,56 ± 1,1143\n", nil},
		{"messages of a step", "strategy,workers,messages per step,samples/s,speed-up\nring,2,4,640 ± " +
			"1,1\n" +
			"ddp,4,16,1200 ± 1,1.88\n", nil},
		{"images of an iteration", "strategy,images per iteration,step ms\nring,64,10 ± 1\nddp,64,7 ± 1\n" +
			"# ddp is faster than ring.\n", []string{"holds"}},
		{"seconds of a step", "strategy,s per step,µs/iteration\nring,0.01 ± 0.001,1\nddp,0.007 ± " +
			"0.001,1\n" +
			"# ddp is faster than ring.\n", []string{"holds"}},
		{"bytes in a column of times", "strategy,workers,step time\na,1,100 MB\nb,1,50 MB\n" +
			"# b is 2x faster than a. b takes 50 s a step.\n", []string{"not checked", "not checked"}},
		{"times with a rate's unit and a mark", "strategy,step time\nring,100 ± 1 ms/step\nddp,50 ms*\n" +
			"# ddp is 2x faster than ring.\n", []string{"holds"}},
		{"deviations in brackets", "strategy,step ms\nring,61 (3)\nddp,60 (3)\n# ddp is the fastest.\n",
			[]string{"note one repeat", "refused one repeat", "refused winner"}},
		{"hours with colons", "strategy,total time\na,2:30:00\nb,1:10:00\n# b is faster than a.\n",
			[]string{"not checked", "note one repeat"}},
		{"a time of nothing", "strategy,workers,step ms\nsingle,1,0\nddp,2,0\n",
			[]string{"note one repeat", "refused out of range"}},
		{"a run's beginning", "row,step,time s,loss\na,0,0.0,2.3\na,10,1.5,2.1\na,20,3.1,1.9\n", nil},
		{"a range of runs", "strategy,step ms\nddp,56-64\nring,55–66\n# ring is faster than ddp.\n",
			[]string{"refused wrong denominators"}},
		{"ranges far apart", "strategy,step ms\nsingle,95–105\nring,55–66\n# ring is faster than single.\n",
			[]string{"holds"}},

		{"time to an accuracy", "model,hardware,time to 94% accuracy\nresnet9,1 x V100,79 ± 1 s\n" +
			"resnet9,8 x V100,18 ± 1 s\n", nil},
		{"time to an accuracy in seconds", "model,strategy,workers,time to 70 % accuracy (s)\n" +
			"vgg11,single,1,420 ± 1\nvgg11,ddp,2,250 ± 1\n# ddp is 1.68x as fast as single.\n",
			[]string{"holds"}},
		{"minutes to an accuracy", "model,workers,minutes to 75.9 % accuracy,epochs\nresnet50,8,115 ± " +
			"1,30\n" +
			"resnet50,16,60 ± 1,33\n# workers 16 takes 3600 s a step.\n", []string{"not checked"}},
		{"epochs to an accuracy", "strategy,workers,epochs to reach 90 % accuracy,epoch s\n" +
			"single,1,12,100 ± 1\nddp,4,40,30 ± 1\n", nil},
		{"phases without a unit", "strategy,workers,step ms,forward,backward,other\nsingle,1,100 ± 1," +
			"30,60,10\n" +
			"ddp,2,56 ± 1,17,33,6\n", nil},
		{"phases in the unit of the cell", "strategy,step time,forward,backward,exposed communication," +
			"hidden communication,optimizer\nddp,56 ± 1 ms,17,30,5,12,4\n", nil},
		{"phases of an epoch beside steps", "strategy,step ms,epoch s,forward,backward,other\n" +
			"ddp,56 ± 1,300 ± 1,100,150,50\n", nil},
		{"phases without a unit that miss a fifth", "strategy,step ms,forward,backward,other\n" +
			"single,100 ± 1,30,40,10\nddp,56 ± 1,17,33,6\n", []string{"refused phases"}},
		{"percentages without a sign", "strategy,step ms,forward,backward,other\nsingle,170 ± 1,30,60," +
			"10\n" +
			"ddp,56 ± 1,27,63,10\n", nil},
		{"lost packets", "link,workers,packet loss (%),loss %,step ms\nlan,2,0,0,100 ± 1\nwan,2,2.4," +
			"2.4,180 ± 1\n" +
			"# CIFAR-10 is trained.\n", []string{"not checked"}},
		{"throughput of a network", "strategy,workers,batch,step ms,network throughput (MB/s)\n" +
			"ring,2,64,100 ± 1,120\nddp,2,64,80 ± 1,150\n", nil},
		{"throughput in bytes", "strategy,workers,batch,step ms,throughput\nring,2,64,100 ± 1,120 MB/s\n" +
			"ddp,2,64,80 ± 1,150 MB/s\n", nil},
		{"efficiency of energy and caches", "strategy,workers,step ms,energy efficiency (samples/J)," +
			"cache efficiency (%)\nsingle,1,100 ± 1,12,97\nddp,4,30 ± 1,9,99\n", nil},
		{"parallel efficiency", "strategy,workers,step ms,parallel efficiency (%)\nsingle,1,100 ± 1,100\n" +
			"ddp,4,30 ± 1,99\n", []string{"refused wrong denominators"}},
		{"EfficientNet", "workers,EfficientNet-B0 (s),ResNet-50 (s)\n1,100,210\n2,60,115\n", nil},
		{"lost accuracy", "strategy,workers,accuracy drop (points),loss of accuracy,step ms\n" +
			"single,1,0,0,100 ± 1\nddp,4,15,15,35 ± 1\n# CIFAR-10 is trained.\n", []string{"not checked"}},
		{"communication before steps", "strategy,workers,communication time per step (ms),step time " +
			"(ms),speed-up\n" +
			"single,1,10,100 ± 1,1\nddp,2,9,56 ± 1,1.79\n", nil},
	}
}

// partCases are about tables of one part of a document, and forms of sentences.
func partCases() []example {
	table := func(ddp string) string {
		return "\n| strategy | workers | step ms |\n|---|---|---|\n| single | 1 | 100 ± 1 |\n| ddp | 4 " +
			"| " + ddp +
			" ± 1 |\n\n"
	}
	const four = "ddp is 4x as fast as single.\n"
	split := []string{"not checked", "note tables disagree"}
	return []example{
		{"tables that disagree", "# Results\nWarm:\n" + table("25") + "Cold:\n" + table("50") + four,
			split},
		{"tables that disagree without headings", table("25") + "Cold:\n" + table("50") + four, split},
		{"tables that disagree on the winner", table("25") + "Cold:\n" + table("150") + "ddp is the " +
			"fastest.\n",
			split},
		{"tables that agree", "# Results\nWarm:\n" + table("25") + "Cold:\n" + table("25") + four,
			[]string{"holds"}},
		{"a table of the same heading", "# Results\n## Warm\n### A\n" + table("25") + four + "### " +
			"B\n" + table("50") +
			"ddp is 2x as fast as single.\n", []string{"holds", "holds"}},
		{"a table of another part", "# A\n" + table("25") + four + "# B\n" + table("50"),
			[]string{"holds"}},
		{"no table gives it", "# Results\n" + table("50") + "Again:\n" + table("51") + four,
			[]string{"refused wrong denominators"}},

		{"half the time", "strategy,step ms\nsingle,100 ± 1\nddp,50 ± 1\n# ddp halves the step time.\n",
			[]string{"holds"}},
		{"not half the time", "strategy,step ms\nsingle,100 ± 1\nddp,56 ± 1\n# ddp halves the step time.\n",
			[]string{"refused wrong denominators"}},
		{"the best", "strategy,step ms\nring,95 ± 6\nddp,93 ± 6\n# The best strategy is ddp. ddp " +
			"clearly wins. " +
			"ddp achieves the best performance. ddp is consistently faster than ring.\n",
			[]string{"refused winner"}},
		{"the best by what", "strategy,step ms,accuracy\nring,95 ± 6,0.7\nddp,53 ± 6,0.6\n" +
			"# The best strategy is ddp.\n", []string{"not checked"}},
		{"Amdahl's law in a sentence", "workers,step ms\n1,100 ± 1\n2,55 ± 1\n" +
			"# With 95 % parallel, Amdahl's law gives 5.93 at 8 workers.\n", []string{"holds"}},
		{"not Amdahl's law in a sentence", "workers,step ms\n1,100 ± 1\n2,55 ± 1\n" +
			"# With 95% parallel Amdahl's law gives 6.15 at 8 workers.\n", []string{"refused Amdahl"}},
	}
}

// weakCases are about batches that grow with the workers.
func weakCases() []example {
	const weak = "note unequal work"
	return []example{
		{"weak scaling of nodes", "nodes,GPUs per node,batch per GPU,step ms,samples/s,efficiency\n" +
			"1,8,32,210,1219,100%\n2,8,32,220,2327,95.5%\n4,8,32,235,4357,89.4%\n",
			[]string{weak, "note one repeat"}},
		{"weak scaling by steps", "nodes,batch per node,step ms,efficiency\n1,256,210,100%\n2,256,220," +
			"95.5%\n" +
			"4,256,235,89.4%\n", []string{weak, "note one repeat"}},
		{"weak scaling with all figures", "workers,batch per worker,step ms,samples/s,speed-up," +
			"efficiency\n" +
			"1,32,100 ± 1,320,1,100%\n2,32,105 ± 1,609.5,1.905,95.2%\n4,32,112 ± 1,1142.9,3.571,89.3%\n",
			[]string{weak}},
		{"weak scaling by the whole batch", "workers,batch,step ms,samples/s,speed-up\n1,32,100 ± 1," +
			"320,1\n" +
			"2,64,125 ± 1,512,1.6\n4,128,160 ± 1,800,2.5\n# workers 4 is 2.5x as fast as workers 1.\n",
			[]string{"holds", weak}},
		{"weak scaling called better", "workers,batch per worker,step ms,samples/s,efficiency\n1,32," +
			"100 ± 1,320,100%\n" +
			"2,32,125 ± 1,512,95%\n", []string{"refused wrong denominators", weak}},
		{"a speed-up that steps of larger batches do not give", "workers,batch,step ms,speed-up\n1,32," +
			"100 ± 1,1\n" +
			"2,64,125 ± 1,1.9\n", []string{"refused wrong denominators", weak}},
		{"weak scaling above 100 %", "workers,batch per worker,step ms,efficiency\n1,32,100 ± 1,100%\n" +
			"2,32,80 ± 1,125%\n", []string{"refused above 100 %", weak}},
		{"a longer step of a larger batch", "workers,batch per worker,step ms\n1,32,100 ± 1\n2,32,120 " +
			"± 1\n" +
			"# workers 2 takes 20 % longer than workers 1.\n", []string{"not checked", weak}},
		{"weak scaling by totals", "nodes,batch per node,total s,efficiency\n1,256,100,100%\n2,256,105," +
			"95.2%\n",
			[]string{weak, "note one repeat"}},
		{"strong scaling by the same steps", "workers,batch,step ms,efficiency\n1,64,100 ± 1,100%\n" +
			"2,64,105 ± 1,95.2%\n", []string{"refused wrong denominators"}},
	}
}

// guessedCases are about rows that say in a label, or at its foot, that nobody measured them.
func guessedCases() []example {
	projected := func(mark, foot string) string {
		return "Times of steps.\n\n| GPUs | epoch s | speedup |\n|---|---|---|\n| 1 | 218.5 ± 1 | 1.00 " +
			"|\n" +
			"| 2 | 122.4 ± 1 | 1.785 |\n| 4" + mark + " | 65.0 ± 1 | 3.36 |\n\n" + foot + "\n"
	}
	bad := []string{"refused Amdahl", "refused projections"}
	said := append([]string{"not checked"}, bad...)
	return []example{
		{"an estimate in brackets", projected(" (est.)", ""), said},
		{"a projection in brackets", projected(" (projected)", ""), said},
		{"an estimate at the figure", strings.Replace(projected("", ""), "65.0 ± 1", "65.0 (est.)", 1),
			said},
		{"a mark that says so", projected("*", `\* extrapolated from the run with 2 workers.`),
			append([]string{"not checked"}, said...)},
		{"another mark that says so", projected("†", "†: projected"),
			append([]string{"not checked"}, said...)},
		{"a numbered note that says so", projected("[^1]", "[^1]: These were estimated."),
			append([]string{"not checked"}, said...)},
		{"a mark that says something else", projected("*", `\* on another day`), []string{"not " +
			"checked", "not checked"}},
		{"a list beside a mark", projected("*", "* on another day\n* as expected"),
			[]string{"not checked", "not checked", "not checked"}},
	}
}

// What nothing reads is listed, and a document of which nothing could be read says so at its end.
func TestNotRead(t *testing.T) {
	const none = "no figure of the tables could be read"
	for name, c := range map[string]struct{ text, want string }{
		"an open fence": {"Code:\n\n```\n" + faulty, "not read: line 3: a code block that no ``` " +
			"closes"},
		"an open tilde fence": {sound + "\n~~~~\n~~~\n" + faulty, "not read: line 6: a code block that " +
			"no ~~~~"},
		"an open comment": {sound + "\n<!--\n" + faulty, "not read: line 6: a comment that no --> " +
			"closes"},
		"a quotation": {sound + "\n> | a | b |\n> |---|---|\n> | 1 | 2 |\n", "not read: line " +
			"6: a table in a"},
		"bytes of a step": {"wire,bytes per step\nfp32,12.3 MB\n", `not read: table 1: column ` +
			`"bytes per step"`},
		"samples of a step": {"wire,samples per step\nfp32,64\n", `not read: table 1: column ` +
			`"samples per step"`},
		"bytes as a time": {"wire,step time\nfp32,12.3 MB\n", `row 1: "12.3 MB" has a unit that ` +
			`"step time"`},
		"bytes as a phase": {"wire,step s,forward\na,1,2 MB\n", `row 1: "2 MB" has a unit that ` +
			`"forward"`},
		"lists in JSON": {`[{"label":"a","step ms":[1,2]}]`, `not read: row 1: "step ms", which ` +
			`is no single`},
		"other languages": {"| Strategie | Knoten | Epoche (s) |\n|---|---|---|\n| a | 1 | 218 " +
			"|\n", none},
		"nothing but bytes": {"wire,step time\nfp32,12.3 MB\n", none},
	} {
		if text := render(check(t, "", c.text)); !strings.Contains(text, c.want) {
			t.Errorf("%s: want %q in\n%s", name, c.want, text)
		}
	}
	if text := render(check(t, "", sound)); strings.Contains(text, none) {
		t.Errorf("a table that was read:\n%s", text)
	}
}
