package replay

// energyOf returns the figure that stands for energy, and its name: joules where they were measured, or else CPU time.
func (d *Data) energyOf() (figure, name string, scale float64) {
	if d.stat("joules").N > 0 {
		return "joules", "energy, J", 1
	}
	return "cpu-ns", "CPU time, ms (a proxy of energy)", 1e-6
}

var fig5Energy = &Experiment{
	ID: "000/fig5-energy", Place: "Section III-B, figure 5 (left)",
	About: "energy of the timing analysis, by workers and policy",
	Notes: "Energy is that of the processor packages during the analysis, where their counters can be read (RAPL). " +
		"Elsewhere CPU time stands for it, which leaves out that an idle core takes energy, too.",
	plan: planTiming,
	figures: func(d *Data) (all []*Figure) {
		y, label, scale := d.energyOf()
		for _, c := range circuits {
			all = append(all, chart{
				file: "000-fig5-energy-" + c.name, title: "Energy, " + c.name, x: "workers", xLabel: "workers",
				y: y, yLabel: label, scale: scale, series: "policy",
			}.lines(d.where("circuit=%s", c.name)))
		}
		return all
	},
	printed: printedFig5Energy,
	columns: []string{"circuit", "policy", "workers"},
	metrics: []metric{{"joules", "energy, J", 1}, cpuMS, wallMS},
	claims: []*Claim{
		{
			ID: "000/fig5-energy highest", Place: "III-B, fig. 5 (left)",
			needs: aSleeper000, baseline: "policy=abp",
			Says: "ABP takes the most energy in most cases; MBWS is very close to ours, which is slightly better in " +
				"most.",
			judge: func(d *Data) Verdict {
				y, label, _ := d.energyOf()
				highest, close, cases, missing := 0, 0, 0, 0.0
				for _, c := range circuits {
					for _, w := range d.values("workers") {
						e := func(p string) float64 {
							return d.median(y, "circuit=%s workers=%s policy=%s", c.name, w,
								p)
						}
						cases++
						missing += 0 * (e("abp") + e("mbws") + e(ours)) // NaN if one is
						if e("abp") > max(e("mbws"), e(ours)) {
							highest++
						}
						if ratio := e(ours) / e("mbws"); ratio >= 0.85 && ratio <= 1.05 {
							close++
						}
					}
				}
				return verdict(2*highest > cases && 2*close > cases,
					"of %g cases ABP takes the most in %d; ours takes 15 %% less than MBWS to 5 %% more in %d (%s)",
					float64(cases)+missing, highest, close, label)
			},
		},
		{
			ID: "000/fig5-energy b19", Place: "III-B, fig. 5 (left), b19",
			needs: aSleeper000, baseline: "circuit=b19 policy=abp",
			Says: "At 40 cores ABP takes 1.57 times as much as ours and 1.48 times as much as MBWS: ours saves 36 %.",
			judge: byCircuit("b19", func(d *Data) Verdict {
				y, label, _ := d.energyOf()
				e := func(p string) float64 { return d.median(y, "workers=%s policy=%s", d.allCores(), p) }
				return verdict(e("abp") > 1.25*e(ours) && e("abp") > 1.25*e("mbws"),
					"with %s workers ABP takes %s of ours and %s of MBWS (%s)", d.allCores(), ratio(e("abp"), e(ours)),
					ratio(e("abp"), e("mbws")), label)
			}),
		},
		{
			ID: "000/fig5-energy c6288", Place: "III-B, fig. 5 (left), c6288",
			needs: aSleeper000, baseline: "circuit=" + c6288 + " policy=abp",
			Says: "With more cores ABP takes more energy although it does not get faster: at 40 cores twice as much " +
				"as ours, for 8 % less time.",
			judge: byCircuit(c6288, func(d *Data) Verdict {
				y, label, _ := d.energyOf()
				most := d.where("workers=%s", d.allCores())
				abp, we := most.median(y, "policy=abp"), most.median(y, "policy=%s", ours)
				one := d.median(y, "workers=1 policy=abp")
				return verdict(abp > 1.1*one && abp >= 1.5*we,
					"with %s workers ABP takes %s of ours and %s of its own with one, and its time is %s (%s)",
					d.allCores(), ratio(abp, we), ratio(abp, one),
					percent(most.median("ns/op", "policy=abp"), most.median("ns/op", "policy=%s", ours)), label)
			}),
		},
	},
}
