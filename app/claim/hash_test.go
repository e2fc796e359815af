package claim_test

import (
	"fmt"
	"strings"
)

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
			[]string{"refused accuracy", "refused equal parameters"}},
		{"the same accuracy of three, two of which are the same", table("52ad8493", "52ad8493", 93.1) +
			"int8,2,93.1,66ad8493\n" + all, []string{"refused one seed"}},
		{"the same accuracy, seed by seed", "strategy,seed,accuracy %,weights hash\n" +
			"single,1,93.1,52ad8493\nsingle,2,92.1,62ad8493\nddp,1,93.1,52ad8493\n" +
			"ddp,2,92.1,62ad8493\n" + all, []string{"holds"}},
		{"seeds that are not as often", "strategy,seed,repeat,accuracy %,weights hash\n" +
			"single,1,1,93.1,52ad8493\nsingle,1,2,93.1,52ad8493\nsingle,2,1,92.1,62ad8493\n" +
			"ddp,1,1,93.1,52ad8493\nddp,2,1,92.1,62ad8493\n", nil},
		{"repeats that are not as often", "strategy,repeat,accuracy %,weights hash\n" +
			"single,1,93.1,52ad8493\nsingle,2,93.1,52ad8493\nddp,1,93.1,52ad8493\n" + all, []string{"holds"}},
		{"a digit more of one", table("sha256:52ad8493", "0x52ad8493137c", 93.14) + all, []string{"holds"}},
		{"both ends of one hash", table("3fa9…c210", "3FA9...c210", 93.1) + all, []string{"holds"}},
		{"both ends beside a whole hash", table("sha256:3fa9..c210", "3fa9"+strings.Repeat("07", 28)+"c210",
			93.1) + all, []string{"holds"}},
		{"another end", table("3fa9…c210", "3fa9…c211", 93.1) + all, []string{"refused one seed"}},
		{"other accuracies of the same ends", table("3fa9…c210", "3fa9…c210", 92.8) + all,
			[]string{"refused accuracy", "refused equal parameters"}},
		{"too few digits that both have", table("3fa9…c210", "3fa98493", 93.1) + all,
			[]string{"refused one seed"}},
		{"one digit apart", table("52ad8493", "52ad8493", 93.2), []string{"refused equal parameters"}},
		{"three hashes that begin alike, of two parameters", "strategy,workers,accuracy %,parameters " +
			"sha256\nsingle,1,93.1,3fa90000\nddp,2,93.1,3fa91111\nps,2,92.0,3fa91111\n",
			[]string{"refused equal parameters"}},
		{"a word behind a hash", table("52ad8493…each", "52ad8493…each", 92.8),
			[]string{"refused equal parameters"}},
		{"words are no hash", table("not recorded", "not recorded", 92.8), nil},
		{"a digit is no hash", table("00000000", "00000000", 92.8), nil},
		{"a commit is no hash of parameters", "strategy,accuracy %,hash\nsingle,93.1,6dd509c3\n" +
			"ddp,89,6dd509c3\n", nil},
	}
}
