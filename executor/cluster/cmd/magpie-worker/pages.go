package main

import (
	"errors"
	"expvar"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/metrics"
	"github.com/magpie-go/magpie/executor/httpdebug"
	exmetrics "github.com/magpie-go/magpie/executor/metrics"
)

// serveAt serves pages for operators, until stop is called.
func serveAt(addr string, ex *executor.Executor, w *cluster.Worker) (stop func(), err error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("-http: %w", err)
	}
	s := &http.Server{Handler: pages(ex, w)}
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Printf("-http: %v", err)
		}
	}()
	log.Printf("metrics are at http://%s/metrics, and pages at http://%s%s", l.Addr(), l.Addr(), httpdebug.Path)
	return func() { s.Close() }, nil
}

// pages are the metrics of the worker, and what packages httpdebug and expvar show.
func pages(ex *executor.Executor, w *cluster.Worker) http.Handler {
	of := metrics.Worker(w)
	mux := http.NewServeMux()
	mux.Handle("/metrics", metrics.Handler(of))
	mux.Handle(httpdebug.Path, httpdebug.New(ex))
	vars := new(expvar.Map)
	expvar.Do(func(v expvar.KeyValue) {
		if v.Key != "cmdline" { // a URL there may have a password
			vars.Set(v.Key, v.Value)
		}
	})
	vars.Set("magpie-worker", metrics.NewVar(of))
	vars.Set("magpie", exmetrics.NewVar(ex))
	mux.HandleFunc("/debug/vars", func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(out, vars.String()) // an error is that of a reader that has gone
	})
	return mux
}
