package replay

// What document 000 has of its figures in numbers, in its sections III-A and III-B.

// inChain are the utilisations of the chain "from 4 to 40 cores", at the numbers of workers that are measured here.
func inChain() (all []value) {
	for _, cores := range []string{"4", "8", "16", "32"} {
		all = append(all, value{ours, cores, 1.2}, value{"mbws", cores, 2.0})
	}
	return all
}

var printedFig2 = []printed{
	{figures: "000-fig3a*", values: inChain(),
		says: "around 2.0 (MBWS) and 1.2 (ours) from 4 to 40 cores, of the whole process"},
	{figures: "000-fig*", says: notInNumbers},
}

var printedFig4 = []printed{
	{figures: "000-fig4-tv80-time", says: "52.5 s (ABP), 60.4 s (ours) and 60.8 s (MBWS) with 40 cores and 51000 " +
		"operations"},
	{figures: "000-fig4-b19-time", says: "with 40 cores ours takes 5 % less than MBWS and 15 % less than ABP"},
	{figures: "000-fig4-b19-util", values: []value{{ours, "40", 22.7}, {"mbws", "40", 21.7}, {"abp", "40", 38.5}}},
	{figures: "000-fig4-*", says: notInNumbers},
}

var printedFig5Energy = []printed{
	{figures: "000-fig5-energy-c6288", says: "with 40 cores ABP takes twice as much as ours, for 8 % less time"},
	{figures: "000-fig5-energy-b19", says: "with 40 cores ABP takes 1.57 times as much as ours, and 1.48 times as " +
		"much as MBWS"},
	{figures: "000-fig5-energy-*", says: notInNumbers},
}

var printedFig5CoRun = []printed{
	{figures: "000-fig5-corun-c6288", values: []value{{"abp", "8", 1.9}, {ours, "8", 6.6}, {"mbws", "8", 4.36}},
		says: "with 40 cores and 8 processes 1.9 (ABP), 6.6 (ours) and 4.36 (MBWS)"},
	{figures: "000-fig5-corun-b19", values: []value{{"abp", "8", 1.49}, {ours, "8", 1.89}, {"mbws", "8", 1.95}},
		says: "with 40 cores and 8 processes 1.49 (ABP), 1.89 (ours) and 1.95 (MBWS)"},
	{figures: "000-fig5-corun-*", says: notInNumbers},
}

var printedLemma2 = []printed{
	{figures: "000-lemma2", says: "a bound, O((STEAL_BOUND + YIELD_BOUND) S + C), and no measurement"},
}
