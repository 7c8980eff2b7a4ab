package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/magpie-go/magpie/executor/cluster"
)

// A build is a graph that makes targets.
type build struct {
	dir     string
	targets *targets
	cache   cache
	call    functions
	graph   *cluster.Graph
	known   map[string]bool                // by the names of targets and sources
	order   []*target                      // each after those that it needs
	made    map[*target]cluster.Call[Made] // of each
	sources map[string]Blob                // the files that are no targets
}

func newBuild(dir string, t *targets, c cache) *build {
	return &build{
		dir: dir, targets: t, cache: c, call: newFunctions(nil), graph: cluster.NewGraph("build"),
		known: map[string]bool{}, made: map[*target]cluster.Call[Made]{}, sources: map[string]Blob{},
	}
}

// add adds the calls that make targets, and what they need. Files that are no targets are put into the cache.
func (b *build) add(ctx context.Context, names []string) error {
	for _, name := range names {
		if b.known[name] {
			continue
		}
		b.known[name] = true
		t := b.targets.byName[name]
		if t == nil {
			var err error
			if b.sources[name], err = b.cache.putFile(ctx, filepath.Join(b.dir, name)); err != nil {
				return err
			}
			continue
		}
		if err := b.add(ctx, t.needs); err != nil {
			return err
		}
		files := Made{Files: map[string]Blob{}}
		var inputs []cluster.Arg[Made]
		for _, need := range t.needs {
			if other := b.targets.byName[need]; other != nil {
				inputs = append(inputs, b.made[other])
			} else {
				files.Files[need] = b.sources[need]
			}
		}
		made := b.call.merge.Call(b.graph, append(inputs, cluster.Value(files))...).Colocate(name)
		if t.script != "" {
			made = b.call.step.Call(b.graph, cluster.Value(Step{name, t.script}), made).Named(name).
				Colocate(name).               // with what it is given
				Cost(100 * time.Millisecond). // of a command: a partition for each
				Retries(3)                    // a server may be gone for a moment
		}
		b.made[t] = made.Keep() // though others take it
		b.order = append(b.order, t)
	}
	return nil
}
