package embedded

import (
	"fmt"
	"strings"
	"sync"
)

// A log takes what the server says, and keeps why it cannot go on.
type log struct {
	out func(line string)

	mu   sync.Mutex
	dead string // the first fatal error
	bad  string // the first stream that was not read back from the store
}

func newLog(out func(line string)) *log {
	if out == nil {
		out = func(string) {}
	}
	return &log{out: out}
}

// fatal is why the server has stopped, "" if it has not.
func (l *log) fatal() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// broken is what of the store was not read back, "" if all of it was. The server itself goes on without that stream.
func (l *log) broken() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bad
}

// unread are the words of the server, in jetstream.go, for a stream that it leaves out or stops. A consumer that it
// leaves out is none of these: a server that is killed while it makes one leaves half of it, and workers make it again.
var unread = []string{
	"Missing stream metafile", "Error reading metafile", "Missing stream checksum", "checksums do not match",
	"Error reading Stream metafile checksum", "Error unmarshalling stream", "Error recreating stream",
	"Detected unsupported", "Error decrypting",
}

func (l *log) Warnf(format string, v ...any) {
	line := strings.TrimSpace(fmt.Sprintf(format, v...))
	for _, u := range unread {
		if strings.Contains(line, u) {
			l.mu.Lock()
			if l.bad == "" {
				l.bad = line
			}
			l.mu.Unlock()
		}
	}
	l.out(line)
}

func (l *log) Fatalf(format string, v ...any) {
	line := fmt.Sprintf(format, v...)
	l.mu.Lock()
	if l.dead == "" {
		l.dead = line
	}
	l.mu.Unlock()
	l.out(line)
}

func (l *log) Errorf(format string, v ...any) { l.out(fmt.Sprintf(format, v...)) }
func (l *log) Noticef(string, ...any)         {}
func (l *log) Debugf(string, ...any)          {}
func (l *log) Tracef(string, ...any)          {}
