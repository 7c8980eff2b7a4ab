package replay

import (
	"fmt"
	"math"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/switches"
)

// slowdowns draws the slowdown of each benchmark beside each other one of a kind of co-run.
func (d *Data) slowdowns(file, kind string) *Figure {
	f := chart{file: file, title: "Slowdowns, " + spaced(kind), yLabel: "slowdown, %"}.frame("dots")
	f.Y.Zero = true
	runs, policies, categories := d.coRuns(kind), strings.Split(policies004, ","), []string(nil)
	for _, co := range runs {
		a, b := names(co)
		categories = append(categories, a+" beside "+b, b+" beside "+a)
	}
	return d.ofKind(kind).dots(f, categories, policies, func(d *Data) (all []float64) {
		parts := d.byCoRun(runs)
		for _, policy := range policies {
			for _, co := range runs {
				a, b := names(co)
				all = append(all, 100*parts[co].slowdown(co, a, policy), 100*parts[co].slowdown(co, b, policy))
			}
		}
		return all
	})
}

var fig2Of004 = &Experiment{
	ID: "004/fig2", Place: "Section 5.2, figure 2",
	About: "slowdowns and unfairness of all pairs of benchmarks",
	Notes: document4 + " A program repeats its benchmark until both have run it often enough. Unfairness is the " +
		"larger slowdown less the smaller. The solo time is that under the same policy. Recorded switches are from " +
		"and to the threads of a program, also between its repetitions; voluntary and involuntary ones are from " +
		"them, within repetitions only.",
	plan: planAllPairs,
	figures: func(d *Data) (all []*Figure) {
		for i, kind := range kinds004 {
			f := d.perCoRun(fmt.Sprintf("004-fig2%c", 'a'+i), "Unfairness, "+spaced(kind), "unfairness, %", kind,
				func(d *Data, co, policy string) float64 { return 100 * d.unfairness(co, policy) })
			f.Y.Zero = true
			all = append(all, f, d.slowdowns(fmt.Sprintf("004-fig2%c-slowdowns", 'a'+i), kind))
		}
		return all
	},
	printed: printedFig2Of004,
	columns: coColumns, metrics: coMetrics,
	claims: []*Claim{
		unfairnessClaim("group_1", 0.73, 0.30), unfairnessClaim("group_2", 1.60, 0.22), unfairnessClaim("mixed", 1.51,
			0.13),
		{
			ID: "004/fig2 overall", Place: "abstract, 5.2",
			needs: aSleeper, baseline: "under=abp",
			Says: "BWS reduces the average unfairness from 124 % to 20 %.",
			judge: func(d *Data) Verdict {
				all := d.coRuns("")
				u := func(policy string) float64 {
					return mean(all, func(co string) float64 { return d.unfairness(co, policy) })
				}
				return verdict(u("abp") >= 0.2 && u(balanced) < 0.6*u("abp"), "ABP %s, %s %s, adaptive %s, over %d "+
					"pairs", pct(u("abp")), balanced,
					pct(u(balanced)), pct(u("adaptive")), len(all))
			},
		},
		exampleClaim("mm+clip", "CLIP is slowed down by 358 % and MM by 7 % under ABP, and by 36 % and 47 % under "+
			"BWS.", "clip", "mm"),
		exampleClaim("ep+mi", "MI is slowed down by 304 % and EP by 5 % under ABP, and by 61 % and 56 % under BWS.",
			"mi", "ep"),
		{
			ID: "004/fig2 switches", Place: "5.2",
			needs: aSleeper, baseline: "under=abp",
			Says: "BWS has 98 % fewer context switches with CLIP and MM, 99 % fewer with MI and EP, and for most " +
				"pairs 70 % fewer.",
			judge: func(d *Data) Verdict {
				count := func(co, policy string) float64 {
					if d.recorded() {
						return d.perRun(co, policy, "switches")
					}
					return d.perRun(co, policy, "vctx") + d.perRun(co, policy, "ictx")
				}
				fewer, all, found := 0, d.coRuns("mixed"), []string{}
				for _, co := range all {
					x := count(co, balanced) / count(co, "abp")
					if math.IsNaN(x) {
						return verdict(false, "NaN")
					}
					if x < 0.3 {
						fewer++
					}
					if co == "mm+clip" || co == "ep+mi" {
						found = append(found, co+" "+percent(x, 1))
					}
				}
				source := "voluntary and involuntary together"
				if d.recorded() {
					source = "by the kernel's records" + d.lostRecords()
				}
				return verdict(2*fewer > len(all), "70 %% fewer in %d of %d pairs; %s (%s)", fewer, len(all),
					strings.Join(found, ", "), source)
			},
		},
		{
			ID: "004/fig2 to-thief", Place: "5.2",
			needs: aSleeper, baseline: "under=abp",
			Says: "93 % of the context switches are to thieves under ABP, and 32 % under BWS.",
			judge: needsRecords(func(d *Data) Verdict {
				// The document's figures are those of co-runs of both groups.
				share := func(policy string) float64 {
					toThief, all := 0.0, 0.0
					for _, co := range d.coRuns("mixed") {
						toThief += d.perRun(co, policy, "to-thief-switches")
						all += d.perRun(co, policy, "switches")
					}
					return toThief / all
				}
				abp, bws := share("abp"), share(balanced)
				return verdict(abp > 0.5 && bws < 0.5*abp, "ABP %s, %s %s, adaptive %s; a thief is a thread that "+
					"gives its core "+
					"up within %v%s", pct(abp), balanced, pct(bws), pct(share("adaptive")), switches.ThiefTime,
					d.lostRecords())
			}),
		},
		{
			ID: "004/fig2 external", Place: "5.2",
			needs: aSleeper, baseline: "under=abp",
			Says: "For BFS and group 2, BWS has 45 % to 96 % fewer switches to the other program.",
			judge: needsRecords(func(d *Data) Verdict {
				held, found := true, []string{}
				for _, a := range apps {
					if a.name != "bfs" && a.group != 2 {
						continue
					}
					external := func(policy string) (sum float64) {
						for _, co := range d.where("kind=mixed workload=%s", a.name).values("co") {
							sum += d.where("co=%s workload=%s under=%s", co, a.name,
								policy).stat("external-switches").Mean
						}
						return sum
					}
					x := external(balanced) / external("abp")
					held = held && x <= 0.55
					found = append(found, a.name+" "+percent(x, 1))
				}
				return verdict(held, "%s%s", strings.Join(found, ", "), d.lostRecords())
			}),
		},
	},
}

func unfairnessClaim(kind string, abp, bws float64) *Claim {
	return &Claim{
		ID: "004/fig2 " + strings.ReplaceAll(kind, "_", "-"), Place: "5.2, fig. 2",
		needs: aSleeper, baseline: "under=abp",
		Says: fmt.Sprintf("The average unfairness of pairs (%s) is %s under ABP and %s under BWS.", spaced(kind),
			pct(abp), pct(bws)),
		judge: func(d *Data) Verdict {
			runs := d.coRuns(kind)
			u := func(policy string) float64 {
				return mean(runs, func(co string) float64 { return d.unfairness(co, policy) })
			}
			return verdict(u("abp") >= 0.2 && u(balanced) < 0.6*u("abp"), "ABP %s, %s %s, adaptive %s", pct(u("abp")),
				balanced, pct(u(balanced)),
				pct(u("adaptive")))
		},
	}
}

func exampleClaim(co, says, weak, strong string) *Claim {
	return &Claim{
		ID: "004/fig2 " + co, Place: "5.2, fig. 2", Says: says,
		needs: aSleeper, baseline: "under=abp",
		judge: func(d *Data) Verdict {
			s := d.slowdown
			return verdict(s(co, weak, "abp") > s(co, strong, "abp")+0.2 && d.unfairness(co,
				balanced) < 0.5*d.unfairness(co, "abp"),
				"under ABP %s is slowed down by %s and %s by %s; under %s by %s and %s", weak, pct(s(co, weak,
					"abp")), strong,
				pct(s(co, strong, "abp")), balanced, pct(s(co, weak, balanced)), pct(s(co, strong, balanced)))
		},
	}
}

var fig3Of004 = &Experiment{
	ID: "004/fig3", Place: "Section 5.2, figure 3",
	About: "weighted speed-up of all pairs of benchmarks",
	Notes: "The solo time is that under ABP for all policies, as in document 004; the second figure of each kind is " +
		"with the solo time of the same policy, as in document 000.",
	plan: planAllPairs,
	figures: func(d *Data) (all []*Figure) {
		for i, kind := range kinds004 {
			all = append(all,
				d.perCoRun(fmt.Sprintf("004-fig3%c", 'a'+i), "Weighted speed-up, "+spaced(kind), "weighted speed-up",
					kind,
					func(d *Data, co, policy string) float64 { return d.weighted(co, policy, "abp") }),
				d.perCoRun(fmt.Sprintf("004-fig3%c-own", 'a'+i), "The same, own solo time, "+spaced(kind),
					"weighted speed-up", kind,
					func(d *Data, co, policy string) float64 { return d.weighted(co, policy, policy) }))
		}
		return all
	},
	printed: printedFig3Of004,
	columns: coColumns, metrics: coMetrics,
	claims: []*Claim{
		throughputClaim("group_1", 4), throughputClaim("group_2", 33), throughputClaim("mixed", 11),
		{
			ID: "004/fig3 overall", Place: "abstract, 5.2",
			needs: aSleeper, baseline: "under=abp",
			Says: "BWS increases the average throughput by 12.5 %, from 1.20 under ABP.",
			judge: func(d *Data) Verdict {
				all := d.coRuns("")
				t := func(policy, base string) float64 {
					return mean(all, func(co string) float64 { return d.weighted(co, policy, base) })
				}
				return verdict(t(balanced, "abp") > 1.06*t("abp", "abp"),
					"ABP %s, %s %s, adaptive %s; with the solo time of the same policy %s, %s and %s",
					significant(t("abp", "abp")),
					balanced, significant(t(balanced, "abp")), significant(t("adaptive", "abp")), significant(t("abp",
						"abp")),
					significant(t(balanced, balanced)), significant(t("adaptive", "adaptive")))
			},
		},
	},
}

func throughputClaim(kind string, more int) *Claim {
	return &Claim{
		ID: "004/fig3 " + strings.ReplaceAll(kind, "_", "-"), Place: "5.2, fig. 3",
		needs: aSleeper, baseline: "under=abp",
		Says: fmt.Sprintf("For pairs (%s) BWS increases the throughput by %d %%.", spaced(kind), more),
		judge: func(d *Data) Verdict {
			runs := d.coRuns(kind)
			t := func(policy string) float64 {
				return mean(runs, func(co string) float64 { return d.weighted(co, policy, "abp") })
			}
			return verdict(t(balanced) > (1+float64(more)/200)*t("abp"), "ABP %s, %s %s (%s), adaptive %s",
				significant(t("abp")), balanced,
				significant(t(balanced)), percent(t(balanced), t("abp")), significant(t("adaptive")))
		},
	}
}
