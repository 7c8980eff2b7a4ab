package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A process is a server or a worker that runs as a process of its own, and is started again when it has ended.
type process struct {
	name string
	args []string
	env  []string  // beside that of this process
	out  io.Writer // of its errors

	mu    sync.Mutex
	cmd   *exec.Cmd
	stdin io.Closer
	ended chan struct{} // closed when cmd has ended and its output was read
	last  string        // the last line that it has printed
	peak  int           // KiB of memory at most, of all that have run
}

// Write takes what the process prints.
func (p *process) Write(lines []byte) (int, error) {
	if text := strings.TrimSpace(string(lines)); text != "" {
		p.mu.Lock()
		p.last = text[strings.LastIndexByte(text, '\n')+1:]
		p.mu.Unlock()
	}
	return p.out.Write(lines)
}

// hasEnded returns an error if the process has ended.
func (p *process) hasEnded() error {
	p.mu.Lock()
	ended := p.ended
	p.mu.Unlock()
	select {
	case <-ended:
	default:
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Errorf("%s has ended: %s", p.name, p.last)
}

// restart is how long a process that was killed is gone.
const restart = time.Second

// start starts the process.
func (p *process) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, p.args...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stderr = p
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }() // its last line says why it has ended
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd, p.stdin, p.ended = cmd, stdin, ended
	return nil
}

// kill ends the process at once, as kill -9 does, and starts it again a while later.
func (p *process) kill(ctx context.Context) error {
	p.look()
	p.mu.Lock()
	cmd, ended := p.cmd, p.ended
	p.mu.Unlock()
	if err := cmd.Process.Kill(); err != nil {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	<-ended
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(restart):
	}
	return p.start()
}

// stop lets the process end.
func (p *process) stop() {
	p.look()
	p.mu.Lock()
	cmd, stdin, ended := p.cmd, p.stdin, p.ended
	p.mu.Unlock()
	if cmd == nil {
		return
	}
	stdin.Close()
	const patience = 10 * time.Second
	select {
	case <-ended:
	case <-time.After(patience):
		_ = cmd.Process.Kill() // it may have ended by now
		<-ended
	}
}

// look notes how much memory the process has had, where the system says so.
func (p *process) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	p.peak = max(p.peak, peak(p.cmd.Process.Pid))
}

// peak is how many KiB of memory a process has had at most, 0 if the system does not say.
func peak(pid int) (kib int) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			if _, err := fmt.Sscan(text, &kib); err == nil {
				return kib
			}
		}
	}
	return 0
}

// memory says how much memory the process has had.
func (p *process) memory() string {
	p.look()
	p.mu.Lock()
	defer p.mu.Unlock()
	return memory(p.name, p.peak)
}

// memory says how many KiB a process has had.
func memory(name string, kib int) string {
	if kib == 0 {
		return name + " ?"
	}
	return fmt.Sprintf("%s %d MiB", name, kib>>10)
}
