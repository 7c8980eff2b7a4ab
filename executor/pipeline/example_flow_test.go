package pipeline_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/graph"
)

// Lines of a text are read one after the other, parsed in parallel, and added up in order.
func ExampleSource() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	type entry struct {
		name string
		n    int
	}
	in := bufio.NewScanner(strings.NewReader("magpie 3\njay 2\nmagpie 1\n"))
	lines := pipeline.Source("tally", 0, func(t *pipeline.Token) (string, error) {
		if !in.Scan() {
			t.Stop()
		}
		return in.Text(), in.Err()
	})
	entries := pipeline.Map(lines, pipeline.Parallel, func(_ *pipeline.Token, line string) (e entry, err error) {
		_, err = fmt.Sscan(line, &e.name, &e.n)
		return e, err
	}).Named("parse")
	seen := map[string]int{}
	p, err := pipeline.Sink(entries, pipeline.Serial, func(_ *pipeline.Token, e entry) error {
		seen[e.name] += e.n
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := ex.Run(context.Background(), p); err != nil {
		log.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		fmt.Println(name, seen[name])
	}
	// Output:
	// jay 2
	// magpie 4
}

// A function is called for every element of a sequence, in parallel, and the results are in the sequence's order.
func ExampleCollect() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	shout := func(_ *pipeline.Token, word string) (string, error) { return strings.ToUpper(word), nil }
	words := pipeline.SourceSeq("shout", 0, strings.FieldsSeq("one for sorrow two for joy"))
	loud, err := pipeline.Collect(context.Background(), ex, pipeline.Map(words, pipeline.Parallel, shout))
	fmt.Println(loud, err)
	// Output: [ONE FOR SORROW TWO FOR JOY] <nil>
}

// Words of a text are measured in parallel, and counted by their length one after the other.
func ExampleEach() {
	words := pipeline.SourceSeq("lengths", 0, strings.FieldsSeq("one for sorrow two for joy"))
	lengths := pipeline.Map(words, pipeline.Parallel, func(_ *pipeline.Token, word string) (int, error) {
		return len(word), nil
	})
	count := make(map[int]int)
	err := pipeline.Each(context.Background(), nil, lengths, pipeline.Serial, func(_ *pipeline.Token, n int) error {
		count[n]++
		return nil
	})
	fmt.Println(count, err)
	// Output: map[3:5 6:1] <nil>
}

// Files are compressed in parallel, by at most two workers at a time, and written to an archive in order.
func ExampleFlow_MaxTokens() {
	ex, err := executor.New(executor.Config{Workers: 4})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	files := []string{strings.Repeat("pica", 500), strings.Repeat("corvus", 500)}
	texts := pipeline.SourceSeq("archive", 0, slices.Values(files))
	packed := pipeline.Map(texts, pipeline.Parallel, func(_ *pipeline.Token, text string) ([]byte, error) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := io.WriteString(z, text)
		err = errors.Join(err, z.Close())
		return b.Bytes(), err
	}).Named("compress").MaxTokens(2)
	var archive bytes.Buffer
	p, err := pipeline.Sink(packed, pipeline.Serial, func(t *pipeline.Token, b []byte) error {
		fmt.Println("file", t.Number(), "is smaller:", len(b) < len(files[t.Number()]))
		_, err := archive.Write(b)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := ex.Run(context.Background(), p); err != nil {
		log.Fatal(err)
	}
	// Output:
	// file 0 is smaller: true
	// file 1 is smaller: true
}

// Frames of a video are encoded. A frame of type B refers to the next frame that is not, and has to wait for it.
func ExampleToken_Defer() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	const video = "IBBPBP"
	frames := pipeline.Source("video", 0, func(t *pipeline.Token) (byte, error) {
		n := t.Number()
		if n == len(video) {
			t.Stop()
			return 0, nil
		}
		if video[n] == 'B' {
			t.Defer(n + strings.IndexAny(video[n:], "IP"))
		}
		return video[n], nil
	})
	p, err := pipeline.Sink(frames, pipeline.Serial, func(t *pipeline.Token, kind byte) error {
		fmt.Printf("%c%d ", kind, t.Number())
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := ex.Run(context.Background(), p); err != nil {
		log.Fatal(err)
	}
	// Output: I0 P3 B1 B2 P5 B4
}

// A pipeline runs inside a task of a graph. An error says in which task, stage and token it happened.
func ExamplePipeline_graph() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	g := graph.New("nightly")
	g.Task(func(ctx context.Context) error {
		pages := pipeline.SourceSeq("pages", 0, slices.Values([]string{"a", "b", ""}))
		_, err := pipeline.Collect(ctx, nil, pipeline.Map(pages, pipeline.Parallel, // nil: the task's executor
			func(_ *pipeline.Token, page string) (int, error) {
				if page == "" {
					return 0, io.ErrUnexpectedEOF
				}
				return len(page), nil
			}).Named("measure"))
		return err
	}).Named("scan")
	fmt.Println(ex.Run(context.Background(), g))
	// Output: graph "nightly": task scan: pipeline "pages": stage 1 (measure), token 2: unexpected EOF
}
