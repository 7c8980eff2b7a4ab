package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/magpie-go/magpie/executor/cluster"
)

// rows is how many lines a table of a page has at most, so that a page fits a screen.
const rows = 15

// look returns a page that shows the queue as it is.
func look(ctx context.Context, c *cluster.Client) (string, error) {
	b, err := c.Backlog(ctx)
	if err != nil {
		return "", err
	}
	workers, err := c.Workers(ctx)
	if err != nil {
		return "", err
	}
	runs, err := c.Runs(ctx)
	if err != nil {
		return "", err
	}
	var page bytes.Buffer
	fmt.Fprintf(&page, "%s: %d partitions wait, %d are with workers, %d were given up\n",
		time.Now().Format(time.TimeOnly), b.Waiting, b.Leased, b.Dead)
	tableOfRuns(&page, runs)
	tableOfWorkers(&page, workers)
	tableOfPartitions(&page, workers)
	return page.String(), nil
}

// tableOfRuns writes the runs that go on, and how many have ended.
func tableOfRuns(out io.Writer, runs []cluster.RunStatus) {
	done, failed := 0, 0
	var open []cluster.RunStatus
	for _, r := range runs {
		switch {
		case !r.Ended:
			open = append(open, r)
		case r.Reason == "":
			done++
		default:
			failed++
		}
	}
	fmt.Fprintf(out, "runs: %d go on, %d have results, %d have failed or were cancelled\n\n", len(open), done, failed)
	table(out, "RUN\tGRAPH\tDONE\tOF\tFAILED\tRUNNING\tFOR", open, func(r cluster.RunStatus) string {
		return fmt.Sprintf("%s\t%.40s\t%d\t%d\t%d\t%d\t%s", r.ID, plain(r.Graph), r.Done, r.Parts, r.Failed, len(r.Running),
			short(r.For))
	})
}

func tableOfWorkers(out io.Writer, workers []cluster.WorkerStatus) {
	table(out, "WORKER\tBUSY\tSLOTS\tDONE\tFUNCTIONS", workers, func(w cluster.WorkerStatus) string {
		return fmt.Sprintf("%s\t%d\t%d\t%d\t%d", plain(w.Name), w.Busy, w.Slots, w.Done, len(w.Functions))
	})
}

// tableOfPartitions writes what runs where, that first which has run longest.
func tableOfPartitions(out io.Writer, workers []cluster.WorkerStatus) {
	var all []cluster.Running
	for _, w := range workers {
		all = append(all, w.Running...)
	}
	slices.SortStableFunc(all, func(a, b cluster.Running) int { return cmp.Compare(b.For, a.For) })
	table(out, "PARTITION\tOF RUN\tON WORKER\tCALLS\tTHE FIRST\tFOR", all, func(r cluster.Running) string {
		return fmt.Sprintf("%d\t%s\t%s\t%d\t%.40s\t%s", r.Part, r.Run, plain(r.Worker), r.Calls, plain(r.Call),
			short(r.For))
	})
}

// table writes a table of some values, of which it leaves out those that are too many.
func table[T any](out io.Writer, head string, all []T, row func(T) string) {
	if len(all) == 0 {
		return
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, head)
	for _, v := range all[:min(len(all), rows)] {
		fmt.Fprintln(t, row(v))
	}
	t.Flush() // of a buffer, which has no errors
	if len(all) > rows {
		fmt.Fprintf(out, "and %d others\n", len(all)-rows)
	}
	fmt.Fprintln(out)
}

// plain is a name that others have chosen, without what a terminal or a table takes for a command.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, name)
}

// short is a duration with few digits.
func short(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}
