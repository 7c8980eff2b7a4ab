package replay

// What document 001 has of its figures in numbers, in its section Results & Analysis. Its figures are pictures.

var (
	printedF1 = []printed{{figures: "001-f1-*", says: "not given in numbers, but that queues per thread take about " +
		"10 ms less than the centralised one with 1000×1000 matrices"}}
	printedSleep      = []printed{{figures: "001-f?", says: notInNumbers}}
	printedF5         = []printed{{figures: "001-f5", says: notInNumbers}}
	printedSummary001 = []printed{{figures: "001-summary-views", says: "no such figure, nor any result of Mandelbrot"}}
)
