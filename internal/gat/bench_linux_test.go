package gat

import (
	"path/filepath"
	"testing"
)

// BenchmarkUpdate is an update of one of some jobs: one that changes nothing, and one whose desire has changed.
func BenchmarkUpdate(b *testing.B) {
	for _, c := range []struct {
		name          string
		jobs, desires int
	}{{"alone", 1, 1}, {"eight jobs", 8, 1}, {"alone, rebalances", 1, 2}, {"eight jobs, rebalances", 8, 2}} {
		b.Run(c.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "table")
			var jobs []*Job
			for range c.jobs {
				jobs = append(jobs, join(b, path, 16, Terms{}))
				update(b, jobs[len(jobs)-1], 16)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				update(b, jobs[0], 4+i%c.desires)
			}
		})
	}
}

func BenchmarkAllotment(b *testing.B) {
	j := join(b, filepath.Join(b.TempDir(), "table"), 16, Terms{})
	for b.Loop() {
		j.Allotment()
	}
}
