package bench

import (
	"fmt"
	"time"

	"github.com/magpie-go/magpie/executor"
)

// A timeline has numbers of threads or workers over time.
type timeline []moment

type moment struct {
	at time.Duration
	n  int
}

// mean returns the mean number between two times, or that of the sample before if there is none.
func (all timeline) mean(from, to time.Duration) float64 {
	sum, n, before := 0, 0, 0
	for _, s := range all {
		switch {
		case s.at < from:
			before = s.n
		case s.at < to:
			sum += s.n
			n++
		}
	}
	if n == 0 {
		return float64(before)
	}
	return float64(sum) / float64(n)
}

const (
	activityPace = 250 * time.Microsecond // between two samples; arbitrary
	activityBins = 20                     // parts of a run for which the mean is told; arbitrary
)

// watchActive calls run and meanwhile counts the active workers of ex. It returns the mean number in each part of the
// time, or nil if there was no time for a sample.
func watchActive(ex *executor.Executor, run func() error) (means []float64, err error) {
	var all timeline
	stop, stopped := make(chan struct{}), make(chan struct{})
	begin := time.Now()
	go func() {
		defer close(stopped)
		tick := time.NewTicker(activityPace)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				all = append(all, moment{time.Since(begin), ex.Stats().Gauges.Active})
			case <-stop:
				return
			}
		}
	}()
	err = run()
	total := time.Since(begin)
	close(stop)
	<-stopped
	if len(all) == 0 || err != nil {
		return nil, err
	}
	for i := range activityBins {
		means = append(means, all.mean(total*time.Duration(i)/activityBins, total*time.Duration(i+1)/activityBins))
	}
	return means, nil
}

// activeMetrics returns the mean of the means, and each of them with the percentage of the time at which it begins.
func activeMetrics(means []float64) (mean Metric, parts []Metric) {
	mean.Name = "active"
	for i, m := range means {
		mean.Value += m
		parts = append(parts, Metric{fmt.Sprintf("active@%d", 100*i/len(means)), m})
	}
	mean.Value /= float64(max(1, len(means)))
	return mean, parts
}
