package site

import (
	"flag"
	"time"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/dial"
)

// A Config says which site a program uses.
type Config struct {
	Server   dial.Server // its URL is "" for a server inside this process
	Queue    string
	Replicas int           // of the streams and buckets that this process makes
	Workers  int           // processes to start; 0 is four if the server is inside this process
	Wait     time.Duration // for the first worker, if this process starts none; 0 is no limit
	Store    string        // the directory of a server inside this process, "" for a new one, which is removed
}

// AddFlags adds the flags of a program that submits graphs.
func (c *Config) AddFlags(f *flag.FlagSet) {
	c.addQueueFlags(f)
	f.IntVar(&c.Workers, "workers", 0,
		"how many worker `processes` to start; the default is 4, or none with -nats, which has its own")
	f.DurationVar(&c.Wait, "wait", 10*time.Second, "how `long` to wait for the first worker of -nats; 0: for ever")
}

// addQueueFlags adds the flags that say which queue it is.
func (c *Config) addQueueFlags(f *flag.FlagSet) {
	c.Server.AddFlags(f, "the `URL` of a server; or NATS_URL; without both one runs inside the program")
	f.StringVar(&c.Queue, "queue", c.Queue, "the `name` of the queue")
	f.IntVar(&c.Replicas, "replicas", 0,
		"how many `servers` hold the queue, if this program is the first to open it; 0: one")
}

// queue returns the queue. Its leases are so short that the work of a worker that was killed goes on after a moment.
func (c *Config) queue() cluster.Queue {
	return cluster.Queue{Name: c.Queue, Replicas: c.Replicas, Lease: 2 * time.Second}
}
