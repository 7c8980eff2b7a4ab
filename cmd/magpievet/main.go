// Magpievet reports uses of Magpie that compile, and fail or hang when they run.
//
//	go install github.com/magpie-go/magpie/cmd/magpievet@latest
//	magpievet ./...
//	go vet -vettool=$(which magpievet) ./...
//
// It finds:
//
//   - bubble: an executor of [executor.New] in a bubble of testing/synctest, where New fails
//   - joins: a Fork whose result nobody can join
//   - pulls: a function of iter.Pull in a task that did not call Pull itself: the runtime ends the process
//   - scopes: a Scope in a function that runs elsewhere and has one of its own
//
// Each can be chosen alone: magpievet -scopes ./...
//
// [executor.New]: https://pkg.go.dev/github.com/magpie-go/magpie/executor#New
package main

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/multichecker"
)

var analyzers = []*analysis.Analyzer{bubble, joins, pulls, scopes}

func main() { multichecker.Main(analyzers...) }
