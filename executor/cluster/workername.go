package cluster

import (
	"crypto/rand"
	"os"
	"strings"
)

// defaultName returns a name for a worker: that of the machine, as far as it is a token, and a random part.
func defaultName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "worker"
	}
	host = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-':
			return r
		}
		return '-'
	}, host)
	const most, random = 40, 8
	return host[:min(len(host), most)] + "-" + strings.ToLower(rand.Text()[:random])
}
