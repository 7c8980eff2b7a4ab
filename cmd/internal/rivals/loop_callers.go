package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"
)

// A loopCaller says where loops are called from.
type loopCaller struct {
	name, doc string
	atOnce    int
	clock     loopClock
}

// A loopClock says where the times of calls are taken.
type loopClock int

const (
	aroundCall    loopClock = iota // there are no requests
	insideHandler                  // around the call in a handler of HTTP
	atClient                       // from the request to its answer
)

var loopCallers = []loopCaller{
	{"main", "the main goroutine, one call after the other", 1, aroundCall},
	{"main8", "eight goroutines that do the same", 8, aroundCall},
	{"handler", "a handler of HTTP, whose client pauses for a millisecond between requests", 1, insideHandler},
	{"handler8", "the same with eight clients", 8, insideHandler},
	{"client8", "as handler8, and what is timed is the whole of a request, by its client", 8, atClient},
}

// clientPause is the time between the answer to a client and its next request.
const clientPause = time.Millisecond

// leastCalls is how many timed calls each caller makes at least.
const leastCalls = 3

// A loopCall makes one call and returns how long it took. A checked call is for results that are removed before and
// compared after it.
type loopCall func(checked bool) (time.Duration, error)

// block has each caller make a checked call, timed calls for that long, and another checked call. The callers do each
// of these three at the same time. It returns the times of the timed calls.
func (c *loopCaller) block(run loopFunc, works []loopWork, want uint64, d time.Duration) ([]time.Duration, error) {
	calls := make([]loopCall, c.atOnce)
	for i := range calls {
		calls[i] = func(checked bool) (time.Duration, error) { return works[i].call(run, checked, want) }
	}
	if c.clock != aroundCall {
		stop := overHTTP(calls, c.clock)
		defer stop()
	}
	times := make([][]time.Duration, c.atOnce)
	check := func(i int) error {
		_, err := calls[i](true)
		return err
	}
	err := atOnce(c.atOnce, check)
	if err == nil {
		err = atOnce(c.atOnce, func(i int) error {
			for begin := time.Now(); len(times[i]) < leastCalls || time.Since(begin) < d; {
				took, err := calls[i](false)
				if err != nil {
					return err
				}
				times[i] = append(times[i], took)
			}
			return nil
		})
	}
	if err == nil {
		err = atOnce(c.atOnce, check)
	}
	var all []time.Duration
	for _, t := range times {
		all = append(all, t...)
	}
	return all, err
}

// call is a loopCall on the goroutine of its caller.
func (w *loopWork) call(run loopFunc, checked bool, want uint64) (time.Duration, error) {
	if checked {
		w.clear()
	}
	begin := time.Now()
	if w.begin != nil {
		w.begin()
	}
	err := run(w.items, w.do)
	took := time.Since(begin)
	if checked && err == nil && w.digest() != want {
		err = fmt.Errorf("wrong answer: the digest is %x, want %x", w.digest(), want)
	}
	return took, err
}

// atOnce calls f for each of n callers, each on a goroutine of its own. One caller is the goroutine of atOnce itself.
func atOnce(n int, f func(i int) error) error {
	if n == 1 {
		return f(0)
	}
	var wg sync.WaitGroup
	errs := make(chan error, n)
	for i := range n {
		wg.Go(func() {
			if err := f(i); err != nil {
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}

// overHTTP replaces calls with requests to a server whose handler makes them. stop ends the server.
func overHTTP(calls []loopCall, clock loopClock) (stop func()) {
	made := append([]loopCall(nil), calls...)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i, err := strconv.Atoi(r.FormValue("caller"))
		var took time.Duration
		if err == nil {
			took, err = made[i](r.FormValue("checked") == "true")
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, took.Nanoseconds())
	}))
	s.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = len(calls)
	for i := range calls {
		calls[i] = func(checked bool) (time.Duration, error) {
			time.Sleep(clientPause)
			asked := time.Now()
			answer, err := s.Client().Get(fmt.Sprintf("%s?caller=%d&checked=%t", s.URL, i, checked))
			if err != nil {
				return 0, err
			}
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			if err == nil && answer.StatusCode != http.StatusOK {
				err = fmt.Errorf("%s", text)
			}
			if err != nil {
				return 0, err
			}
			if clock == atClient {
				return time.Since(asked), nil
			}
			ns, err := strconv.ParseInt(string(text), 10, 64)
			return time.Duration(ns), err
		}
	}
	return s.Close
}
