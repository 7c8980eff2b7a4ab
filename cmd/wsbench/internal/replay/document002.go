package replay

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The experiments of document 002, which are those of wsbench deque.
var document002 = []*Experiment{fig1, fig2a, fig2b, fig2c, fig2d, forksOf002, graphsOf002}

// kinds002 are the kinds of deque in the document's figures.
const kinds002 = "abp,bwos,pdqr,pdqs,adws,padws"

var fig1 = &Experiment{
	ID: "002/fig1", Place: "Section 1.2, figure 1",
	About: "tree traversals that begin in one queue, by the size of blocks: ABP, BWoS and PadWS",
	Notes: "8 queues with a thread each. The document does not give its trees: fat is one of 512 children a node, " +
		"thin a spine of 16384 small ones, of which a handful are ready at any time.",
	plan: func(p *Plan) {
		p.deque(80*time.Second, "tree -deque abp,bwos,padws -workers 8 -reps %d"+againFlag+"deque=abp", p.reps(3, 10))
	},
	figures: func(d *Data) (all []*Figure) {
		for _, tree := range d.values("tree") {
			f := chart{
				file: "002-fig1-" + tree, title: "Running time, " + tree + " tree", x: "block",
				xLabel: "items in a block",
				logX:   true, y: "ns/node", yLabel: "ns a node", series: "deque",
			}.lines(d.where("tree=%s deque=bwos|padws", tree))
			// ABP has no blocks: its line is flat.
			var abp Series
			for _, s := range f.Series {
				for _, p := range s.Points {
					if len(abp.Points) <= len(s.Points) {
						abp.add(p.X, d.where("tree=%s deque=abp", tree).stat("ns/node"), 1)
					}
				}
				abp.Name = "abp"
				break
			}
			f.add(abp)
			all = append(all, f)
		}
		return all
	},
	printed: printedFig1,
	columns: []string{"tree", "deque", "block", "workers", "work", "n"},
	metrics: []metric{{"ns/node", "ns a node", 1}, {"steals", "steals", 1}},
	claims: []*Claim{
		{
			ID: "002/fig1 fat", Place: "1.2, fig. 1",
			needs: eightQueues, baseline: "tree=fat deque=bwos block=1",
			Says: "On the fat tree BWoS is considerably slower with small blocks.",
			judge: func(d *Data) Verdict {
				part := d.where("tree=fat deque=bwos")
				least, _ := part.extremes("block", "ns/node", 0)
				small := part.median("ns/node", "block=1")
				return verdict(small > 1.25*least, "with blocks of 1 %s ns a node, at best %s; by block: %s",
					significant(small),
					significant(least), part.curve("block", "ns/node", 1))
			},
		},
		{
			ID: "002/fig1 thin", Place: "1.2, fig. 1",
			needs: eightQueues, baseline: "tree=thin deque=bwos block=2048",
			Says: "On the thin tree the time of BWoS rises steeply with the size of the blocks.",
			judge: func(d *Data) Verdict {
				part := d.where("tree=thin deque=bwos")
				least, _ := part.extremes("block", "ns/node", 0)
				large := part.median("ns/node", "block=%s", part.last("block"))
				return verdict(large > 1.5*least, "with blocks of %s %s ns a node, at best %s; by block: %s",
					part.last("block"),
					significant(large), significant(least), part.curve("block", "ns/node", 1))
			},
		},
		{
			ID: "002/fig1 padws", Place: "2.2.1, fig. 1",
			needs: eightQueues, baseline: "deque=padws",
			Says: "With blocks of any size but the extremes PadWS is good on both trees.",
			judge: func(d *Data) Verdict {
				held, found := true, []string{}
				for _, tree := range []string{"fat", "thin"} {
					part := d.where("tree=%s deque=padws", tree)
					blocks := part.values("block")
					if len(blocks) < 5 {
						return verdict(false, "NaN")
					}
					middle := part.where("block=%s", strings.Join(blocks[2:len(blocks)-2], "|"))
					least, most := middle.extremes("block", "ns/node", 0)
					best := d.median("ns/node", "tree=%s deque=abp", tree)
					for _, k := range []string{"bwos", "padws"} {
						b, _ := d.where("tree=%s deque=%s", tree, k).extremes("block", "ns/node", 0)
						best = min(best, b)
					}
					held = held && most <= 1.3*best
					found = append(found, fmt.Sprintf("%s: %s to %s ns a node with blocks of %s to %s, the best of "+
						"all is %s", tree,
						significant(least), significant(most), blocks[2], blocks[len(blocks)-3], significant(best)))
				}
				return verdict(held, "%s", strings.Join(found, "; "))
			},
		},
		{
			ID: "002/fig1 abp", Place: "2.2.1, fig. 1",
			needs: eightQueues, baseline: "deque=abp",
			Says: "PadWS is up to 4.7 times as fast as ABP.",
			judge: func(d *Data) Verdict {
				most, where := math.NaN(), ""
				for _, tree := range d.values("tree") {
					abp := d.median("ns/node", "tree=%s deque=abp", tree)
					least, _ := d.where("tree=%s deque=padws", tree).extremes("block", "ns/node", 0)
					if math.IsNaN(most) || abp/least > most {
						most, where = abp/least, tree
					}
				}
				return verdict(most >= 1.5, "up to %s times, on the %s tree", significant(most), where)
			},
		},
	},
}

// control2a are the conditions of what is measured a second time: the ends of the claims and of the questions.
const control2a = "deque=padws|bwos|pdqr stolen=0|40"

// significantDrop is how many times as long an owner takes, of whose items a tenth are stolen, if its throughput drops
// significantly. Every owner pays something: a cell that a thief has read is not in its cache any more.
const significantDrop = 1.3

var fig2a = &Experiment{
	ID: "002/fig2a", Place: "Section 1.3, figure 2a",
	About: "the owner's throughput by the share that one thief steals",
	plan: func(p *Plan) {
		p.inTurns(3, func() {
			p.deque(25*time.Second, "owner -deque %s -n %d -reps %d"+againFlag+strings.ReplaceAll(control2a, " ", ","),
				kinds002, p.size(300000, 5000000), p.reps(6, 12))
		})
	},
	figures: func(d *Data) []*Figure {
		return []*Figure{chart{
			file: "002-fig2a", title: "Owner", x: "stolen", xLabel: "stolen, %", y: "ns/op",
			yLabel: "ns a push or pop", series: "deque",
		}.lines(d)}
	},
	printed: printedFig2a,
	columns: []string{"deque", "stolen", "n"},
	metrics: []metric{{"ns/op", "ns a push or pop", 1}, {"stolen-percent", "stolen, %", 1},
		{"retries/steal", "retries a steal", 1}},
	claims: []*Claim{
		{
			ID: "002/fig2a private", Place: "1.3, fig. 2a",
			needs: twoEnds, baseline: "stolen=0",
			Says: "The throughput of pdqr and pdqs drops significantly as soon as items are stolen.",
			judge: func(d *Data) Verdict {
				held, found := true, []string{}
				for _, k := range []string{"pdqr", "pdqs"} {
					part := d.where("deque=%s", k)
					none, some := part.median("ns/op", "stolen=0"), part.median("ns/op", "stolen=10")
					held = held && some > significantDrop*none
					found = append(found, k+", ns by percent stolen: "+part.curve("stolen", "ns/op", 1))
				}
				return verdict(held, "%s", strings.Join(found, "; "))
			},
		},
		{
			ID: "002/fig2a padws", Place: "2.2.1, fig. 2a",
			needs: twoEnds, baseline: "stolen=0",
			Says: "The share that is stolen has a negligible effect on the owner of PadWS, and on that of BWoS.",
			judge: func(d *Data) Verdict {
				held, found := true, []string{}
				for _, k := range []string{"padws", "bwos"} {
					part := d.where("deque=%s", k)
					none, some := part.median("ns/op", "stolen=0"), part.median("ns/op", "stolen=10")
					held = held && some <= significantDrop*none
					found = append(found, k+", ns by percent stolen: "+part.curve("stolen", "ns/op", 1))
				}
				return verdict(held, "%s", strings.Join(found, "; "))
			},
		},
	},
}

var fig2b = &Experiment{
	ID: "002/fig2b", Place: "Section 1.3, figure 2b",
	About: "the average latency of a steal",
	plan: func(p *Plan) {
		p.inTurns(3, func() {
			p.deque(5*time.Second, "latency -deque %s -n %d -reps %d"+againFlag+"deque=padws", kinds002,
				p.size(300000, 5000000), p.reps(6, 12))
		})
	},
	figures: func(d *Data) []*Figure {
		c := chart{file: "002-fig2b", title: "Latency of a steal", x: "deque", yLabel: "ns", series: "experiment"}
		c.y = "mean-ns"
		mean := c.bars(d)
		c.file, c.title, c.y = "002-fig2b-median", "Median latency of a steal", "p50-ns"
		return []*Figure{mean, c.bars(d)}
	},
	printed: printedFig2b,
	columns: []string{"deque", "stolen", "n"},
	metrics: []metric{{"mean-ns", "mean, ns", 1}, {"p50-ns", "median, ns", 1}, {"p99-ns", "99th percentile, ns", 1},
		{"retries/steal", "retries a steal", 1}},
	claims: []*Claim{
		{
			ID: "002/fig2b private", Place: "1.3, fig. 2b",
			needs: twoEnds, baseline: "deque=pdqr|pdqs",
			Says: "pdqr and pdqs have the highest latency, higher than ABP's.",
			judge: func(d *Data) Verdict {
				l := func(k string) float64 { return d.median("mean-ns", "deque=%s", k) }
				_, most := d.where("deque=abp|bwos|adws|padws").extremes("deque", "mean-ns", 0)
				return verdict(min(l("pdqr"), l("pdqs")) > most, "means in ns: %s; medians: %s", d.each("deque",
					"mean-ns", 1),
					d.each("deque", "p50-ns", 1))
			},
		},
		{
			ID: "002/fig2b padws", Place: "2.1, fig. 2b",
			needs: twoEnds, baseline: "deque=padws",
			Says: "PadWS has the lowest latency of all, about 0.32 of that of pdqr and pdqs.",
			judge: func(d *Data) Verdict {
				l := func(k string) float64 { return d.median("mean-ns", "deque=%s", k) }
				least, _ := d.where("deque=abp|bwos|pdqr|pdqs").extremes("deque", "mean-ns", 0)
				return verdict(l("padws") <= least && l("padws") < 0.5*min(l("pdqr"), l("pdqs")),
					"%s of pdqr and %s of pdqs; means in ns: %s", significant(l("padws")/l("pdqr")),
					significant(l("padws")/l("pdqs")), d.each("deque", "mean-ns", 1))
			},
		},
	},
}

var fig2c = &Experiment{
	ID: "002/fig2c", Place: "Section 1.3, figure 2c",
	About: "the throughput of all thieves of a queue, by their number",
	plan: func(p *Plan) {
		var thieves []string
		for n := 1; n <= max(2, 2*p.Cores); n *= 2 {
			thieves = append(thieves, strconv.Itoa(n))
		}
		p.deque(60*time.Second, "thieves -deque %s -n %d -reps %d -thieves %s"+againFlag+"deque=padws", kinds002,
			p.size(100000, 2000000), p.reps(3, 10), strings.Join(thieves, ","))
	},
	figures: func(d *Data) []*Figure {
		return []*Figure{chart{
			file: "002-fig2c", title: "Thieves", x: "thieves", xLabel: "thieves", y: "steals/s", scale: 1e-6,
			yLabel: "million steals a second", series: "deque",
		}.lines(d)}
	},
	printed: printedFig2c,
	columns: []string{"deque", "thieves", "n"},
	metrics: []metric{{"steals/s", "million steals/s", 1e-6}, {"retries/steal", "retries a steal", 1}},
	claims: []*Claim{
		{
			ID: "002/fig2c private", Place: "1.3, fig. 2c",
			needs: manyThieves, baseline: "thieves=1",
			Says: "pdqr and pdqs do not scale with the number of thieves.",
			judge: func(d *Data) Verdict {
				held, found := true, []string{}
				for _, k := range []string{"pdqr", "pdqs"} {
					part := d.where("deque=%s", k)
					_, most := part.extremes("thieves", "steals/s", 1)
					held = held && most < 1.5*part.median("steals/s", "thieves=1")
					found = append(found, k+", million steals/s by thieves: "+part.curve("thieves", "steals/s", 1e-6))
				}
				return verdict(held, "%s", strings.Join(found, "; "))
			},
		},
		{
			ID: "002/fig2c padws", Place: "2.2.2, fig. 2c",
			needs: manyThieves, baseline: "deque=padws",
			Says: "PadWS scales best: with 87 thieves it has 3.4 times the throughput of the second best.",
			judge: func(d *Data) Verdict {
				thieves := "1" // the most for which there are cores
				for _, t := range d.values("thieves") {
					if n, err := strconv.Atoi(t); err == nil && n+1 <= d.Env.Cores {
						thieves = t
					}
				}
				at := d.where("thieves=%s", thieves)
				p := at.median("steals/s", "deque=padws")
				_, second := at.where("deque=abp|bwos|pdqr|pdqs|adws").extremes("deque", "steals/s", 0)
				return verdict(p > 1.5*second, "with %s thieves %s of the second best; million steals/s: %s", thieves,
					ratio(p, second), at.each("deque", "steals/s", 1e-6))
			},
		},
	},
}

// mostPass is how many ns a cache line takes between two cores with a common cache, at most.
const mostPass = 150

var fig2d = &Experiment{
	ID: "002/fig2d", Place: "Section 2.1, figure 2d",
	About: "retries of a steal by the share that is stolen: asynchronous delegation alone (adws)",
	plan: func(p *Plan) {
		p.inTurns(3, func() {
			p.deque(3*time.Second, "retries -deque adws -n %d -reps %d"+againFlag+"stolen=10",
				p.size(300000, 5000000), p.reps(6, 12))
		})
	},
	figures: func(d *Data) []*Figure {
		return []*Figure{chart{
			file: "002-fig2d", title: "adws", x: "stolen", xLabel: "stolen, %", y: "retries/steal",
			yLabel: "retries a steal", series: "deque",
		}.lines(d)}
	},
	printed: printedFig2d,
	columns: []string{"deque", "stolen", "n"},
	metrics: []metric{{"at-once-percent", "without a retry, %", 1}, {"retries/steal", "retries a steal", 1},
		{"empties/steal", "found empty, a steal", 1},
		{"stolen-percent", "stolen, %", 1}, {"pass-ns", "a line from core to core, ns", 1}},
	claims: []*Claim{{
		ID: "002/fig2d retries", Place: "2.1, fig. 2d",
		needs: twoEnds, baseline: "deque=adws",
		Says: "The expected number of retries is remarkably low: most steals need none.",
		judge: func(d *Data) Verdict {
			least, _ := d.extremes("stolen", "at-once-percent", 0)
			pass := d.stat("pass-ns").Median
			found := fmt.Sprintf("percent of the steals without a retry, by percent stolen: %s; retries a steal: %s; a "+
				"line from core to core %s ns", d.curve("stolen", "at-once-percent", 1),
				d.curve("stolen", "retries/steal", 1), significant(pass))
			if pass > mostPass {
				return cannotShow(found, fmt.Sprintf("two cores that pass a line in %d ns: a thief that steals more often "+
					"than its requests can be answered has to retry, whatever the deque", mostPass))
			}
			return verdict(least > 50, "%s", found)
		},
	}},
}
