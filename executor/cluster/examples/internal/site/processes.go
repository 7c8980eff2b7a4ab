package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// workers are worker processes: this program with the command "worker". They end with this process, however it ends,
// since their standard input then does.
type workers struct {
	processes []*exec.Cmd
	inputs    []io.Closer
	stopping  atomic.Bool
	running   sync.WaitGroup
	ended     chan struct{} // closed when all have ended; nil if there are none
}

// start starts the processes. Their temporary files are in dir.
func (w *workers) start(c Config, dir string) error {
	if c.Workers < 1 {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	each := max(1, runtime.NumCPU()/c.Workers)
	for i := range c.Workers {
		p := exec.Command(self, append([]string{"worker", "-child", "-queue", c.Queue, "-each", strconv.Itoa(each),
			"-replicas", strconv.Itoa(c.Replicas)}, c.Server.Args()...)...)
		p.Env = append(os.Environ(), c.Server.Env(), "TMPDIR="+dir)
		p.Stderr = os.Stderr
		input, err := p.StdinPipe()
		if err != nil {
			return err
		}
		if err := p.Start(); err != nil {
			return err
		}
		w.processes, w.inputs = append(w.processes, p), append(w.inputs, input)
		w.running.Go(func() {
			if err := p.Wait(); !w.stopping.Load() {
				fmt.Fprintf(os.Stderr, "worker process %d has ended: %v\n", i+1, err)
			}
		})
	}
	w.ended = make(chan struct{})
	go func() { w.running.Wait(); close(w.ended) }()
	return nil
}

// whileAlive returns a context that ends with ctx, or when all processes have ended.
func (w *workers) whileAlive(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-w.ended:
			cancel(errors.New("all worker processes have ended"))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// stop lets the processes end, and kills those that do not.
func (w *workers) stop() {
	w.stopping.Store(true)
	for _, input := range w.inputs {
		input.Close()
	}
	const patience = 15 * time.Second // more than a worker takes to give back what it has
	kill := time.AfterFunc(patience, func() {
		for _, p := range w.processes {
			_ = p.Process.Kill() // it may have ended by now
		}
	})
	w.running.Wait()
	kill.Stop()
}
