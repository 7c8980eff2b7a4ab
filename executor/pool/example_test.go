package pool_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/pool"
)

// Rows that take different times are dealt to the workers in advance. A worker that has run all of its own takes half
// of those that another has left.
func Example() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	p, err := pool.New("rows", pool.Options{Queue: pool.PerThread, Stealing: pool.RandomHalf})
	if err != nil {
		log.Fatal(err)
	}
	rows := make([]string, 5)
	for i := range rows {
		p.Add(func(*pool.Task) error { rows[i] = strings.Repeat("*", i+1); return nil })
	}
	if err := ex.Run(context.Background(), p); err != nil {
		log.Fatal(err)
	}
	fmt.Println(rows, p.Stats().Total.Tasks)
	// Output:
	// [* ** *** **** *****] 5
}

// The pages on which a word is likely are searched first, and no other page is begun after the word is found.
func Example_search() {
	ex, err := executor.New(executor.Config{Workers: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	p, err := pool.New("search", pool.Options{Queue: pool.ByPriority})
	if err != nil {
		log.Fatal(err)
	}
	page := -1
	for i, text := range []string{"preface", "on corvids", "on magpies", "index"} {
		likely := 0
		if strings.HasPrefix(text, "on") {
			likely = 1
		}
		p.AddPriority(likely, func(t *pool.Task) error {
			if strings.Contains(text, "magpie") && t.Found() {
				page = i
			}
			return nil
		})
	}
	if err := ex.Run(context.Background(), p); err != nil {
		log.Fatal(err)
	}
	fmt.Println("page", page, "after", p.Stats().Total.Tasks, "of", p.Len(), "pages")
	// Output:
	// page 2 after 2 of 4 pages
}
