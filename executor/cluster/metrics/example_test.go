package metrics_test

import (
	"net/http"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/metrics"
)

// A worker shows what it counts to Prometheus, at an address that only operators reach.
func ExampleHandler() {
	var worker *cluster.Worker // of cluster.NewWorker
	show := func() error {
		mux := http.NewServeMux()
		mux.Handle("/metrics", metrics.Handler(metrics.Worker(worker)))
		return http.ListenAndServe("127.0.0.1:9090", mux)
	}
	_ = show
}
