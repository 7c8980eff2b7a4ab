package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// A loadConfig says what a load process sends.
type loadConfig struct {
	Address       string
	Rate          float64 // requests a second
	Warm, Measure time.Duration
	Seed          uint64
}

// A loadResult is what a load process has measured.
type loadResult struct {
	Latencies []int64 `json:"latencies"` // of the requests, in ns, in the order of the times of sending
	Lateness  []int64 `json:"lateness"`  // the load process's own part of each: from when it was due to when it was sent
	Favoured  string  `json:"favoured"`  // how the system lets the load process run before others
	Window    window  `json:"window"`
}

const (
	// firstConnections are made in advance, and mostConnections at most.
	firstConnections = 64
	mostConnections  = 4096
	// patience is how long the load process waits for answers after the last request.
	patience = time.Minute
	// loadMemory is the heap from which on the load process collects its garbage, of which it makes little.
	loadMemory = 1 << 30
)

// generate is the load process. It stands for clients on other machines, and should not wait for a core of this one.
func generate(in *json.Decoder, out *json.Encoder) error {
	var cfg loadConfig
	if err := in.Decode(&cfg); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	debug.SetMemoryLimit(loadMemory)
	debug.SetGCPercent(-1)
	g := &generator{address: cfg.Address, failed: make(chan struct{})}
	favoured := favour()
	g.prepare()
	if err := g.connect(firstConnections); err != nil {
		return err
	}
	defer g.close()
	result, err := g.measure(cfg)
	if err != nil {
		return err
	}
	result.Favoured = favoured
	return out.Encode(result)
}

// A request is one request of a run. Times are in ns since the run's begin.
type request struct {
	question  int
	due, sent int64
	answered  atomic.Int64
}

// plan returns requests at a rate for a time. Each is due at a random time of its own interval: at equal distances they
// could keep step with a clock of the system.
func plan(rate float64, d time.Duration, seed uint64) []request {
	rng := rand.New(rand.NewPCG(seed, 0))
	all := make([]request, max(1, int(rate*d.Seconds())))
	for i := range all {
		all[i].question = rng.IntN(questions)
		all[i].due = int64((float64(i) + rng.Float64()) / rate * 1e9)
	}
	return all
}

type generator struct {
	address           string
	requests, answers [][]byte

	mu          sync.Mutex
	free        []*connection // the last one is used next
	connections []*connection
	closed      bool
	err         error
	failed      chan struct{} // is closed after the first error
}

// prepare computes all requests and their answers.
func (g *generator) prepare() {
	for q := range questions {
		g.requests = append(g.requests, fmt.Appendf(nil, "GET /answer/%d HTTP/1.1\r\nHost: x\r\n\r\n", q))
		g.answers = append(g.answers, answer(q))
	}
}

// measure warms the server up and measures.
func (g *generator) measure(cfg loadConfig) (result loadResult, err error) {
	if _, err := g.run(cfg.Rate, cfg.Warm, cfg.Seed); err != nil {
		return result, err
	}
	if err := g.ask("/begin", new(struct{})); err != nil {
		return result, err
	}
	requests, err := g.run(cfg.Rate, cfg.Measure, cfg.Seed+1)
	if err != nil {
		return result, err
	}
	if err := g.ask("/end", &result.Window); err != nil {
		return result, err
	}
	for i := range requests {
		r := &requests[i]
		result.Latencies = append(result.Latencies, r.answered.Load()-r.due)
		result.Lateness = append(result.Lateness, r.sent-r.due)
	}
	return result, nil
}

// run sends requests and waits for the answers.
func (g *generator) run(rate float64, d time.Duration, seed uint64) ([]request, error) {
	all := plan(rate, d, seed)
	var left sync.WaitGroup
	left.Add(len(all))
	done := make(chan struct{})
	go func() {
		left.Wait()
		close(done)
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	punctual()
	begin := time.Now()
	for i := range all {
		r := &all[i]
		sleep(time.Duration(r.due) - time.Since(begin))
		c, err := g.take()
		if err != nil {
			return nil, err
		}
		c.current.Store(&pending{r, begin, left.Done})
		if _, err := c.net.Write(g.requests[r.question]); err != nil {
			return nil, fmt.Errorf("load: %w", err)
		}
		r.sent = time.Since(begin).Nanoseconds()
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
		return all, nil
	case <-g.failed:
		g.mu.Lock()
		defer g.mu.Unlock()
		return nil, g.err
	case <-timer.C:
		return nil, fmt.Errorf("load: requests without an answer after %v", patience)
	}
}

// take returns a connection without a request.
func (g *generator) take() (*connection, error) {
	for {
		g.mu.Lock()
		if n := len(g.free); n > 0 {
			c := g.free[n-1]
			g.free = g.free[:n-1]
			g.mu.Unlock()
			return c, nil
		}
		err, all := g.err, len(g.connections)
		g.mu.Unlock()
		switch {
		case err != nil:
			return nil, err
		case all < mostConnections:
			if err := g.connect(1); err != nil {
				return nil, err
			}
		default:
			time.Sleep(100 * time.Microsecond) // which counts as latency
		}
	}
}

// connect makes so many connections.
func (g *generator) connect(n int) error {
	for range n {
		conn, err := net.Dial("tcp", g.address)
		if err != nil {
			return fmt.Errorf("load: %w", err)
		}
		c := &connection{net: conn, buffer: make([]byte, 4<<10)}
		g.mu.Lock()
		g.connections = append(g.connections, c)
		g.free = append(g.free, c)
		g.mu.Unlock()
		go g.read(c)
	}
	return nil
}

func (g *generator) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for _, c := range g.connections {
		_ = c.net.Close() // all answers are here
	}
}

// A connection has at most one request at a time.
type connection struct {
	net     net.Conn
	buffer  []byte
	current atomic.Pointer[pending]
}

// A pending request has been sent.
type pending struct {
	*request
	begin time.Time
	done  func()
}

// read reads the answers of a connection, and verifies them.
func (g *generator) read(c *connection) {
	for {
		body, err := c.answer()
		if err != nil {
			g.fail(err)
			return
		}
		p := c.current.Load()
		p.answered.Store(time.Since(p.begin).Nanoseconds())
		if !bytes.Equal(body, g.answers[p.question]) {
			g.fail(fmt.Errorf("wrong answer to question %d: %q", p.question, body))
			return
		}
		g.mu.Lock()
		g.free = append(g.free, c)
		g.mu.Unlock()
		p.done()
	}
}

func (g *generator) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil && !g.closed {
		g.err = fmt.Errorf("load: %w", err)
		close(g.failed)
	}
}

var (
	endOfHeader   = []byte("\r\n\r\n")
	statusOK      = []byte("HTTP/1.1 200 ")
	contentLength = []byte("\r\nContent-Length: ")
)

// answer reads an answer of the server and returns its body. It makes no garbage, unlike http.ReadResponse.
func (c *connection) answer() (body []byte, err error) {
	have := 0
	for {
		n, err := c.net.Read(c.buffer[have:])
		if err != nil {
			return nil, err
		}
		have += n
		header, rest, ok := bytes.Cut(c.buffer[:have], endOfHeader)
		if !ok {
			if have == len(c.buffer) {
				return nil, errors.New("an answer has a header that is too long")
			}
			continue
		}
		_, length, ok := bytes.Cut(header, contentLength)
		if !ok || !bytes.HasPrefix(header, statusOK) {
			return nil, fmt.Errorf("an answer begins with %q", header)
		}
		length, _, _ = bytes.Cut(length, []byte{'\r'})
		size := 0
		for _, digit := range length {
			size = 10*size + int(digit-'0')
		}
		switch {
		case size > len(c.buffer)-len(header)-len(endOfHeader):
			return nil, errors.New("an answer of " + strconv.Itoa(size) + " bytes is too long")
		case len(rest) > size:
			return nil, errors.New("an answer has more bytes than it says")
		case len(rest) == size:
			return rest, nil
		}
	}
}

// ask asks the server about itself.
func (g *generator) ask(path string, into any) error {
	client := http.Client{Timeout: patience}
	defer client.CloseIdleConnections()
	r, err := client.Get("http://" + g.address + path)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	defer func() { _ = r.Body.Close() }()
	if r.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(r.Body)
		return fmt.Errorf("load: %s: %s: %s", path, r.Status, bytes.TrimSpace(text))
	}
	return json.NewDecoder(r.Body).Decode(into)
}
