package embedded

import (
	"errors"
	"fmt"
	"net"
	"strconv"
)

// Config says how a server runs. The zero value has no store directory and is an error.
type Config struct {
	// Dir is the store directory. It is made if it is missing. One server at a time may use it.
	Dir string

	// Listen is a TCP address of this machine's loopback, as "127.0.0.1:0". Without it only this process reaches the
	// server, through Server.Connect.
	Listen string

	// Token is what clients of Listen must give, as in nats://TOKEN@127.0.0.1:4222, and the other servers of Cluster, which
	// have the same. Without it every user of this machine may use the server.
	Token string

	// SyncAlways makes the server write each message through to the disk before it acknowledges it. Otherwise the
	// server does so every two minutes, and a machine that loses power loses what it has acknowledged meanwhile. A
	// server that is killed loses nothing in either case.
	SyncAlways bool

	// Cluster makes the server one of several that replicate streams. It needs Listen.
	Cluster *Cluster

	// Log is called with each warning and error of the server, one line each. Any thread.
	Log func(line string)
}

// Cluster is what a server must know to find the other servers of its cluster.
type Cluster struct {
	Server string   // the name of this server, which no other server of the cluster has
	Listen string   // the loopback address for the other servers
	Routes []string // the loopback addresses of all servers of the cluster
}

// check returns the host and port of Listen, "" and 0 without it.
func (c *Config) check() (host string, port int, err error) {
	if c.Dir == "" {
		return "", 0, errors.New("embedded: Config.Dir is empty: the server needs a store directory")
	}
	if c.Cluster != nil {
		if c.Listen == "" {
			return "", 0, errors.New("embedded: Config.Cluster needs Config.Listen")
		}
		if c.Cluster.Server == "" {
			return "", 0, errors.New("embedded: Cluster.Server is empty: each server of a cluster needs a name")
		}
	}
	if c.Listen == "" {
		return "", 0, nil
	}
	return loopback(c.Listen)
}

// loopback splits an address of the loopback.
func loopback(addr string) (host string, port int, err error) {
	host, p, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, fmt.Errorf("embedded: address %q: %w", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", 0, fmt.Errorf("embedded: address %q is not of the loopback: "+
			"a server that others reach needs TLS and accounts, run nats-server for that", addr)
	}
	port, err = strconv.Atoi(p)
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("embedded: address %q: the port is not a number up to 65535", addr)
	}
	return host, port, nil
}
