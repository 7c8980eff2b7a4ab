package replay

// What document 002 has of its figures in numbers. Its figures are pictures.

var (
	printedFig1 = []printed{{figures: "002-fig1-*", says: "not given in numbers, but that PadWS is up to 4.7 times as " +
		"fast as ABP"}}
	printedFig2a = []printed{{figures: "002-fig2a", says: notInNumbers}}
	printedFig2b = []printed{
		{figures: "002-fig2b", says: "PadWS has about 0.32 of the latency of pdqr and pdqs"},
		{figures: "002-fig2b-median", says: "means only"},
	}
	printedFig2c = []printed{{figures: "002-fig2c", says: "with 87 thieves PadWS has 3.4 times the throughput of the " +
		"second best"}}
	printedFig2d = []printed{{figures: "002-fig2d", says: notInNumbers}}
)
