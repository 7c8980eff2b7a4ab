package pipeline_test

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/pipeline"
)

// Lines are read one after the other, changed in parallel, and written in the order in which they were read.
func Example() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	in := bufio.NewScanner(strings.NewReader("pica pica\ncorvus corax\ngarrulus glandarius"))
	texts := make([]string, 4) // one for each line of the pipeline
	p, err := pipeline.New("shout", len(texts),
		pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
			if !in.Scan() {
				t.Stop()
				return in.Err()
			}
			texts[t.Line()] = in.Text()
			return nil
		}},
		pipeline.Stage{Run: func(t *pipeline.Token) error {
			texts[t.Line()] = strings.ToUpper(texts[t.Line()])
			return nil
		}},
		pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
			fmt.Println(t.Number(), texts[t.Line()])
			return nil
		}},
	)
	if err != nil {
		log.Fatal(err)
	}
	if err := ex.Run(context.Background(), p); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 0 PICA PICA
	// 1 CORVUS CORAX
	// 2 GARRULUS GLANDARIUS
}
