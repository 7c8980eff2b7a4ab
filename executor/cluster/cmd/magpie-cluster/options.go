package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/dial"
)

// options say what is to be shown.
type options struct {
	server  dial.Server // its URL is "" for servers that the program starts
	queue   string
	dir     string
	servers int
	sync    bool
	workers int
	each    int // workers of the executor of a worker process
	slots   int
	local   bool

	tasks  int
	width  int
	cost   time.Duration
	sleep  bool
	target time.Duration
	seed   uint64
	kills  kills

	verbose bool
}

func parse(args []string, out io.Writer) (o options, err error) {
	f := flag.NewFlagSet("run", flag.ContinueOnError)
	o.server.AddFlags(f, "the `URL` of a server to use, and to start none; or NATS_URL")
	f.StringVar(&o.queue, "queue", "show", "the `name` of the queue")
	f.StringVar(&o.dir, "dir", "", "the store `directory` of the servers; the default is a new one, which is removed")
	f.IntVar(&o.servers, "servers", 1, "how many servers hold the queue: 1 or 3")
	f.BoolVar(&o.sync, "sync", false, "the servers write each message through to the disk before they acknowledge it")
	f.IntVar(&o.workers, "workers", 4, "how many worker processes there are")
	f.IntVar(&o.each, "each", 1, "how many calls one worker process runs at the same time")
	f.IntVar(&o.slots, "slots", 4, "how many partitions one worker process has under way")
	f.BoolVar(&o.local, "local", false, "run the graph in this process, with as many workers of one executor: to compare")
	f.IntVar(&o.tasks, "tasks", 2000, "how many calls the graph has")
	f.IntVar(&o.width, "width", 200, "how many calls of the graph may run at the same time")
	f.DurationVar(&o.cost, "cost", 5*time.Millisecond, "how long one call takes")
	f.BoolVar(&o.sleep, "sleep", false, "calls wait instead of computing: for more workers than CPUs")
	f.DurationVar(&o.target, "target", 30*time.Millisecond, "how long one partition takes")
	f.Uint64Var(&o.seed, "seed", 1, "the seed of the graph, and of what is killed")
	f.Var(&o.kills, "kill",
		"the `processes` that are killed, and how long after the graph was submitted, as worker=2s,server=3s,leader=4s")
	f.BoolVar(&o.verbose, "v", false, "print the errors that the processes go on after")
	if err := parseFlags(f, args, out); err != nil {
		return o, err
	}
	switch {
	case o.servers != 1 && o.servers != 3:
		return o, refuse("-servers %d: there may be 1 or 3", o.servers)
	case o.workers < 1 || o.each < 1 || o.slots < 1 || o.tasks < 1 || o.width < 1:
		return o, refuse("-workers, -each, -slots, -tasks and -width must be positive")
	case o.local && len(o.kills) > 0:
		return o, refuse("-kill is for processes, and -local has none")
	case o.cost < 0 || o.target <= 0:
		return o, refuse("-target must be positive, and -cost may not be negative")
	}
	f.Visit(func(set *flag.Flag) {
		switch set.Name {
		case "creds", "ca", "inbox":
			if o.server.URL == "" {
				err = refuse("-%s is for a server that is there: give -nats, or NATS_URL, as well", set.Name)
			}
		case "servers", "sync", "dir":
			if o.server.URL == "" {
				break
			}
			err = refuse("-%s is for servers that this program starts, and -nats, or NATS_URL, has it start none", set.Name)
		}
	})
	for _, k := range o.kills {
		if k.what != "worker" && o.server.URL != "" {
			err = refuse("-kill %s: the server is not started by this program", k.what)
		}
	}
	return o, err
}

// A kill is a process that is to be killed some time after the run was submitted.
type kill struct {
	what  string // worker, server or leader
	after time.Duration
}

type kills []kill

func (k *kills) String() string { return "" }

// Set implements flag.Value.
func (k *kills) Set(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		what, after, _ := strings.Cut(one, "=")
		d, err := time.ParseDuration(after)
		if err != nil || d < 0 {
			return fmt.Errorf("%q is not as worker=2s", one)
		}
		switch what {
		case "worker", "server", "leader":
			*k = append(*k, kill{what, d})
		default:
			return fmt.Errorf("%q: a worker, a server or the leader may be killed", what)
		}
	}
	return nil
}
