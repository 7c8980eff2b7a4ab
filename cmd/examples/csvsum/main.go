// Csvsum adds up a column of a CSV file without quotes for each value of another, and prints the largest sums.
//
//	csvsum -gen 500 > sales.csv    makes 500 MB with the columns city, product and amount
//	csvsum -by city -sum amount sales.csv
//
// It is an example, to copy from: a pipeline that reads blocks of lines one after the other and adds up several at a
// time, in a memory that does not depend on the size of the file.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/magpie-go/magpie/executor/pipeline"
)

func main() {
	by := flag.String("by", "city", "the `column` of the keys")
	sum := flag.String("sum", "amount", "the `column` to add up")
	size := flag.Int("gen", 0, "only write so many `MB` to try it with")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, flag.Arg(0), *by, *sum, *size*1e6, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "csvsum:", err)
		os.Exit(1)
	}
}

// run writes a file of some size or, if that is 0, the ten largest sums.
func run(ctx context.Context, file, by, sum string, size int, out io.Writer) error {
	if size > 0 {
		return generate(out, size)
	}
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("give a file, as in \"csvsum sales.csv\": %w", err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	header, err := in.ReadString('\n')
	names := strings.Split(strings.TrimSpace(header), ",")
	key, value := slices.Index(names, by), slices.Index(names, sum)
	if key < 0 || value < 0 {
		return errors.Join(err, fmt.Errorf("%s has the columns %q: choose by -by and -sum", file, names))
	}

	blocks := pipeline.Source(file, 0, func(t *pipeline.Token) (string, error) {
		block := make([]byte, in.Size())
		n, err := in.Read(block)
		if err == io.EOF {
			t.Stop()
			return "", nil
		}
		rest, _ := in.ReadBytes('\n') // of the last line
		return string(append(block[:n], rest...)), err
	})
	var mu sync.Mutex
	sums := make(map[string]float64) // guarded by mu
	err = pipeline.Each(ctx, nil, blocks, pipeline.Parallel, func(_ *pipeline.Token, block string) error {
		part := make(map[string]float64)
		for line := range strings.Lines(block) {
			fields := strings.Split(strings.TrimSpace(line), ",")
			if len(fields) != len(names) {
				return fmt.Errorf("%q has %d fields, not %d", line, len(fields), len(names))
			}
			x, err := strconv.ParseFloat(fields[value], 64)
			if err != nil {
				return fmt.Errorf("%q: %w", line, err)
			}
			part[fields[key]] += x
		}
		mu.Lock()
		defer mu.Unlock()
		for key, x := range part {
			sums[strings.Clone(key)] += x // without the block that it is part of
		}
		return nil
	})
	if err != nil {
		return err
	}
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b string) int { return cmp.Compare(sums[b], sums[a]) })
	for _, key := range keys[:min(10, len(keys))] {
		fmt.Fprintf(out, "%-20s %16.2f\n", key, sums[key])
	}
	return nil
}

// generate writes a file of some bytes.
func generate(out io.Writer, size int) error {
	w := bufio.NewWriter(out)
	n, err := fmt.Fprintln(w, "city,product,amount")
	for ; size > n && err == nil; size -= n {
		n, err = fmt.Fprintf(w, "city-%d,product-%d,%.2f\n", rand.IntN(5000), rand.IntN(100), 1e3*rand.Float64())
	}
	return w.Flush() // has the first error
}
