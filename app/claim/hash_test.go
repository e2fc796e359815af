package claim_test

import "fmt"

// hashCases are about parameters that are the same bit for bit, which show an accuracy to be the same without
// seeds.
func hashCases() []example {
	table := func(single, ddp string, accuracy float64) string {
		return fmt.Sprintf("strategy,workers,accuracy %%,parameters sha256\nsingle,1,93.1,%s\nddp,2,%g,%s\n",
			single, accuracy, ddp)
	}
	const all = "# All strategies reach the same accuracy.\n"
	return []example{
		{"the same accuracy by the same bits", table("52ad8493", "52ad8493137ce983", 93.1) + all,
			[]string{"holds"}},
		{"the same accuracy of two by the same bits", table("52ad8493...", "52AD8493…", 93.1) +
			"# single and ddp reach the same accuracy.\n", []string{"holds"}},
		{"the same accuracy by other bits", table("52ad8493", "52ad8494", 93.1) + all,
			[]string{"refused one seed"}},
		{"the same accuracy by bits cut short", table("52ad", "52ad", 93.1) + all,
			[]string{"refused one seed"}},
		{"other accuracies of the same bits", table("52ad8493", "52ad8493", 92.8) + all,
			[]string{"refused accuracy"}},
		{"the same accuracy of three, two of which are the same", table("52ad8493", "52ad8493", 93.1) +
			"int8,2,93.1,66ad8493\n" + all, []string{"refused one seed"}},
	}
}
