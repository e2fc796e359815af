package claim_test

import "testing"

// A figure of a table may hide no more than 5 % by its few digits; one decimal and one percent are
// always allowed.
func roundingCases() []example {
	const wrong = "refused wrong denominators"
	ratio := func(step, speedup string) string {
		return "strategy,workers,step ms,speed-up\nsingle,1,100 ± 1,1\nddp,2," + step + " ± 1," + speedup +
			"\n"
	}
	share := func(step, efficiency string) string {
		return "workers,step ms,efficiency\n1,100 ± 1,1\n2," + step + " ± 1," + efficiency + "\n"
	}
	return []example{
		{"1.56 written as 2", ratio("64", "2"), []string{wrong}},
		{"1.79 written as 2", ratio("56", "2x"), []string{wrong}},
		{"1.79 written as 1.8", ratio("56", "1.8"), nil},
		{"1.9 written as 2", ratio("52.5", "2"), []string{"note wrong denominators"}},
		{"1.98 written as 2", ratio("50.5", "2"), nil},
		{"0.46 written as 0.5", ratio("217", "0.5"), nil},
		{"0.26 written as 0.5", ratio("380", "0.5"), []string{wrong}},
		{"62 % written as 1", share("80", "1"), []string{wrong}},
		{"62 % written as 0.6", share("80", "0.6"), []string{"note wrong denominators"}},
		{"54 % written as 0.6", share("92.6", "0.6"), []string{wrong}},
		{"96 % written as 1", share("52", "1"), []string{"note wrong denominators"}},
		{"11.7 % written as a whole percent", share("427", "12%"), nil},
		{"an efficiency of a coarse speed-up", "workers,speed-up,efficiency\n1,1,100%\n2,2,80%\n",
			[]string{wrong}},
		{"a rate of one digit", "label,batch,step ms,samples/s\na,64,40 ± 0.1,2k\n", []string{wrong}},
		{"a rate of two digits", "label,batch,step ms,samples/s\na,64,40 ± 0.1,1.6k\n", nil},
		{"cents", "devices,total s,price/h,cost $\n1,30 ± 1,1.50,0.01\n2,16 ± 1,1.50,0.01\n", nil},
		{"dollars", "devices,total s,price/h,cost $\n1,3600 ± 5,1.60,2\n2,1800 ± 5,1.60,1.60\n",
			[]string{wrong}},
		{"Amdahl's law in whole numbers", "workers,Amdahl (95 % parallel)\n8,5.9\n16,9\n32,13\n", nil},
		{"Amdahl's law too roundly", "workers,Amdahl (80 % parallel)\n2,2\n4,3\n8,3\n",
			[]string{"refused Amdahl"}},
	}
}

// Sentences beside a table may round no more than that either.
func TestRoundedSentences(t *testing.T) {
	const table = "| strategy | workers | step ms | total s |\n|---|---|---|---|\n" +
		"| single | 1 | 100 ± 1 | 1000 |\n" +
		"| ddp | 2 | 56 ± 1 | 560 |\n| ps | 2 | 70 ± 1 | 700 |\n\n"
	for _, c := range []struct{ text, right, wrong string }{
		{"ddp is # as fast as single.", "1.8x", "2x"},
		{"ddp is # as fast as ps.", "1.3x", "1x"},
		{"ps is # as fast as single.", "1.4x", "1x"},
		{"ddp is 1.79× as fast as single, # per core.", "89 %", "100 %"},
		{"ddp is # (1–3) as fast as single.", "1.8×", "5×"},
		{"ddp takes # a step.", "0.056 s", "0.1 s"},
		{"A step of ddp takes #.", "0.06 s", "0.1 s"},
		{"The step time of ddp was about #.", "0.06 s", "0.1 s"},
		{"ddp is # faster than single.", "0.044 s", "0.06 s"},
		{"Training with ddp took about #.", "9 min", "8 min"},
		{"ddp reduces the step time by a factor of # versus single.", "1.8", "2"},
		{"ddp had the shortest step: 56 ms, # as fast as single, in one run of each row.", "1.8×", "1×"},
	} {
		judges(t, table, c.text, c.right, c.wrong)
	}
}

// What a table rounds too much to tell is not decided.
func TestACoarseTableDecidesNothing(t *testing.T) {
	const table = "| strategy | workers | total h |\n|---|---|---|\n| single | 1 | 4 |\n| ddp | 2 | 2 |\n\n"
	r := check(t, "report.md", table+"Training with ddp took 2h 13m.\n")
	if len(r.Statements) != 1 || r.Statements[0].Verdict != "not checked" {
		t.Error(render(r))
	}
}
