package replay

// What document 004 has of its figures in numbers, in its sections 2.3.2 and 5.2 to 5.5. Its figures are pictures.

// on32 is said of values that are of the document's machine, in a unit that does not tell.
const on32 = "with 32 cores"

// printedFig2Of004 has the unfairness of a pair where the text has both slowdowns: it is their difference.
var printedFig2Of004 = []printed{
	{figures: "004-fig2a", values: []value{{"abp", "average", 73}, {balanced, "average", 30},
		{"abp", "bfs+ep", 377 - 5}}, says: on32},
	{figures: "004-fig2b", values: []value{{"abp", "average", 160}, {balanced, "average", 22}}, says: on32},
	{figures: "004-fig2c", values: []value{{"abp", "average", 151}, {balanced, "average", 13},
		{"abp", "mm+clip", 358 - 7}, {balanced, "mm+clip", 47 - 36}, {"abp", "ep+mi", 304 - 5},
		{balanced, "ep+mi", 61 - 56}, {"abp", "mm+cg", 144 - 37}}, says: on32},
	{figures: "004-fig2a-slowdowns", values: []value{{"abp", "bfs beside ep", 377}, {"abp", "ep beside bfs", 5}},
		says: on32},
	{figures: "004-fig2b-slowdowns", says: notInNumbers},
	{figures: "004-fig2c-slowdowns", values: []value{
		{"abp", "clip beside mm", 358}, {"abp", "mm beside clip", 7}, {balanced, "clip beside mm", 36},
		{balanced, "mm beside clip", 47}, {"abp", "mi beside ep", 304}, {"abp", "ep beside mi", 5},
		{balanced, "mi beside ep", 61}, {balanced, "ep beside mi", 56}, {"abp", "cg beside mm", 144},
		{"abp", "mm beside cg", 37},
	}, says: on32},
}

var printedFig3Of004 = []printed{
	{figures: "004-fig3?-own", says: "no such figure"},
	{figures: "004-fig3a", says: "BWS has 4 % more than ABP on average; 1.20 (ABP) and 1.35 (BWS) are over all pairs"},
	{figures: "004-fig3b", says: "BWS has 33 % more than ABP on average; 1.20 (ABP) and 1.35 (BWS) are over all pairs"},
	{figures: "004-fig3c", says: "BWS has 11 % more than ABP on average; 1.20 (ABP) and 1.35 (BWS) are over all pairs"},
}

var printedFig4Of004 = []printed{
	{figures: "004-fig4a", says: "not given in numbers, but that with BWS all are below 10 %"},
	{figures: "004-fig4b", values: []value{{"abp", "type 2", 37}, {balanced, "type 2", 10}}, says: on32},
}

var printedFig5Of004 = []printed{
	{figures: "004-fig5-unfairness", values: []value{{"unfairness", "abp", 124}, {"unfairness", "selective", 108},
		{"unfairness", balanced, 20}}, says: "over all pairs, with 32 cores"},
	{figures: "004-fig5-throughput", values: []value{{"weighted speed-up", "abp", 1.2},
		{"weighted speed-up", "selective", 1.1}, {"weighted speed-up", balanced, 1.35}},
		says: "over all pairs, with 32 cores"},
}

var printedFig6Of004 = []printed{
	{figures: "004-fig6-unfairness", values: []value{{"unfairness", "32", 32}, {"unfairness", "64", 20},
		{"unfairness", "256", 19}, {"unfairness", "4096", 23}}, says: "over all pairs, with 32 cores"},
	{figures: "004-fig6-throughput", values: []value{{"weighted speed-up", "32", 1.44}, {"weighted speed-up", "64", 1.35},
		{"weighted speed-up", "256", 1.33}, {"weighted speed-up", "4096", 1.29}}, says: "over all pairs, with 32 cores"},
}

var printedSec55 = []printed{{
	figures: "004-sec5.5", values: []value{{downgraded, "mi", 135}, {global, "clip", 277}},
	says: "with 32 cores; on average 107 % (busy workers wake) and 143 % (global counts)",
}}

var printedTable1Of004 = []printed{{figures: "004-table1", says: "more than 20 with 32 cores for BFS, EP, MM, " +
	"RayTracer and LOOP, less than 16 for CG, CLIP and MI; BFS 21"}}

var printedSec2 = []printed{
	{figures: "004-sec2", values: []value{
		{"abp", "bfs beside ep", 377}, {"abp", "ep beside bfs", 5}, {"abp", "cg beside mm", 144},
		{"abp", "mm beside cg", 37}, {halfWorkers, "cg beside mm", 97}, {halfWorkers, "mm beside cg", 12},
		{"abp+yields=never", "cg beside mm", 600}, {"abp+yields=never", "mm beside cg", 100},
	}, says: "with 32 cores; without yields more than 600 % and about 100 %"},
	{figures: "004-sec2-active", says: "not given in numbers, but for about 5 of 32 workers of BFS beside EP"},
}
