package claim_test

// spreadColumnCases are about columns that say how far runs spread.
func spreadColumnCases() []example {
	step := func(header, a, b string) string {
		return "strategy;step ms;" + header + "\nring;94.2;" + a + "\ntree;89.5;" + b +
			"\n# tree is faster than ring.\n"
	}
	holds, close, wrong := []string{"holds"}, []string{"refused winner"}, "refused interval"
	return []example{
		{"95 % CI", step("95 % CI", "93.1–95.0", "88.9–90.2"), holds},
		{"intervals that meet", step("95% CI", "89.1–99.0", "84.9–94.2"), close},
		{"an interval without its figure", step("CI", "83.1–85.0", "88.9–90.2"),
			[]string{"holds", wrong}},
		{"an interval upside down", step("95% confidence interval", "[95.0, 93.1]", "[88.9, 90.2]"),
			[]string{wrong, "refused one repeat"}},
		{"an interval in brackets", step("CI (95 %)", "(93.1, 95.0)", "(88.9, 90.2)"), holds},
		{"with units", step("range", "93.1–95.0 ms", "88.9–90.2 ms"), holds},
		{"in another unit", step("min-max", "0.0931-0.0950 s", "0.0889-0.0902 s"), holds},
		{"half of an interval", step("95% CI", "± 0.4", "± 0.5"), holds},
		{"half of a wide one", step("95% CI", "± 4", "± 5"), close},
		{"IQR", step("IQR", "0.8", "0.7"), holds},
		{"quartiles", step("IQR", "93.1–94.1", "88.9–89.4"), holds},
		{"sigma", step("σ", "0.4", "0.5"), holds},
		{"a wide deviation", step("Std. dev.", "4", "5"), close},
		{"a deviation in percent", step("std (%)", "0.4", "0.5"), holds},
		{"standard errors", step("SEM", "0.2", "0.2"), holds},
		{"one that is not read", step("Error", "0.4", "0.5"), []string{"not checked"}},
		{"numbers too large for a spread", step("bytes", "100", "200"), []string{"note one repeat",
			"refused one repeat"}},
		{"numbers of another unit", step("memory (GB)", "2.1", "2.2"), []string{"note one repeat",
			"refused one repeat"}},
		{"an interval of exchanges behind the figure", step("interval", "10", "20"), []string{"not checked"}},
		{"accuracies in percent", "strategy,accuracy %,95% CI\na,91.2,91.0–91.4\nb,91.6,91.4–91.8\n", nil},
		{"fractions with a spread in percent", "strategy,accuracy\na,0.91 ± 3%\nb,0.92 ± 3%\n# 10 classes.\n",
			nil},
		{"a bar beyond its accuracy", "strategy,accuracy %,95% CI\na,91.2,92.0–93.4\nb,91.6,91.4–91.8\n",
			[]string{wrong}},
	}
}
