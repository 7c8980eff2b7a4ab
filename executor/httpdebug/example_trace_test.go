package httpdebug_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/httpdebug"
	"github.com/magpie-go/magpie/executor/observe"
)

// The page trace with package observe: a trace for https://ui.perfetto.dev of the next seconds.
func ExampleHandler_trace() {
	tap := observe.NewSwitch()
	ex, err := executor.New(executor.Config{Workers: 2, Observers: []*executor.Observer{tap.Observer()}})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	h := httpdebug.New(ex)
	h.Trace = func(ctx context.Context, _ *executor.Executor, out io.Writer) error {
		err := tap.Record(ctx, out, observe.TraceOptions{})
		if dropped := (*observe.DroppedError)(nil); errors.As(err, &dropped) {
			return nil // the trace says so itself
		}
		return err
	}
	mux := http.NewServeMux()
	mux.Handle(httpdebug.Path, h)

	// What a browser does:
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/debug/magpie/trace?seconds=0.1", nil))
	file := w.Body.Bytes()
	fmt.Println(w.Code, bytes.HasPrefix(file, []byte(`{"traceEvents":[`)), bytes.HasSuffix(file, []byte("]}\n")))
	// Output: 200 true true
}
