package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/magpie-go/magpie/executor/cluster/dial"
)

// A site is the processes of a show.
type site struct {
	server  dial.Server
	servers []*process
	workers []*process
	scratch string // a directory to be removed
}

// begin starts the processes.
func begin(o options, out io.Writer) (s *site, err error) {
	s = &site{server: o.server}
	defer func() {
		if err != nil {
			s.end()
		}
	}()
	if o.server.URL == "" {
		if err := s.beginServers(o, out); err != nil {
			return s, err
		}
	}
	for i := range o.workers {
		name := "worker" + strconv.Itoa(i+1)
		p := &process{name: name, out: out, env: []string{s.server.Env()}, args: append([]string{"worker",
			"-queue", o.queue, "-replicas", strconv.Itoa(o.servers), "-name", name, "-each", strconv.Itoa(o.each),
			"-slots", strconv.Itoa(o.slots)}, s.server.Args()...)}
		s.workers = append(s.workers, p)
		if err := p.start(); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *site) beginServers(o options, out io.Writer) error {
	dir := o.dir
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "magpie-cluster-"); err != nil {
			return err
		}
		s.scratch = dir
	}
	addrs, err := freeAddrs(2 * o.servers)
	if err != nil {
		return err
	}
	routes := strings.Join(addrs[o.servers:], ",")
	var urls []string
	for i := range o.servers {
		name := "server" + strconv.Itoa(i+1)
		p := &process{name: name, out: out, args: []string{"server", "-name", name, "-dir", filepath.Join(dir, name),
			"-listen", addrs[i], "-sync=" + strconv.FormatBool(o.sync)}}
		if o.servers > 1 {
			p.args = append(p.args, "-route", addrs[o.servers+i], "-routes", routes)
		}
		s.servers = append(s.servers, p)
		urls = append(urls, "nats://"+addrs[i])
		if err := p.start(); err != nil {
			return err
		}
	}
	s.server.URL = strings.Join(urls, ",")
	return nil
}

// freeAddrs returns addresses of the loopback that nobody listened on a moment ago.
func freeAddrs(n int) ([]string, error) {
	var addrs []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // when all are found, so that they differ
		addrs = append(addrs, l.Addr().String())
	}
	return addrs, nil
}

// end ends the processes, the workers first.
func (s *site) end() {
	for _, p := range append(s.workers, s.servers...) {
		p.stop()
	}
	if s.scratch != "" {
		if err := os.RemoveAll(s.scratch); err != nil {
			fmt.Fprintln(os.Stderr, "magpie-cluster:", err)
		}
	}
}

// memory says how much memory the processes have had. The submitter is this one.
func (s *site) memory() string {
	all := []string{memory("submitter", peak(os.Getpid()))}
	for _, p := range append(s.servers, s.workers...) {
		all = append(all, p.memory())
	}
	return strings.Join(all, ", ")
}
