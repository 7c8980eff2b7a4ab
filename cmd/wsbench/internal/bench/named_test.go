package bench

import (
	"context"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
)

// Workloads that tests run.
var (
	chain           = workloads.Named("chain")
	btree           = workloads.Named("btree")
	dag             = workloads.Named("dag")
	fan             = workloads.Named("fan")
	matmul          = workloads.Named("matmul")
	fib             = workloads.Named("fib")
	scan            = workloads.Named("scan")
	loopy           = workloads.Named("loopy")
	knary           = workloads.Named("knary")
	cholesky        = workloads.Named("cholesky")
	strassen        = workloads.Named("strassen")
	timing          = workloads.Named("sta")
	mandelbrotViews = workloads.Named("mandelbrot-views")
	matmulK         = workloads.Named("matmul-k")
	sleepLinear     = workloads.Named("sleep")
	search          = workloads.Named("search")
)

func empty(context.Context) error { return nil }
