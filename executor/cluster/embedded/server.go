package embedded

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// A Server is a NATS server in this process. Any thread.
type Server struct {
	ns    *server.Server
	dir   *lock
	addr  string // "" if it does not listen
	token string
}

// clusterName is the name of every cluster of embedded servers: servers with other names refuse each other.
const clusterName = "magpie"

// randomPort asks the server for a free port.
const randomPort = -1

// Start starts a server, and returns when it takes connections. If ctx ends before, it returns when the server has read
// its store. If it returns an error, nothing is left behind but the store directory.
func Start(ctx context.Context, c Config) (*Server, error) {
	host, port, err := c.check()
	if err != nil {
		return nil, err
	}
	dir, err := lockDir(c.Dir)
	if err != nil {
		return nil, err
	}
	opts := &server.Options{
		ServerName:    "magpie",
		Host:          host,
		Port:          port,
		DontListen:    c.Listen == "",
		Authorization: c.Token,
		NoSigs:        true,
		JetStream:     true,
		StoreDir:      c.Dir,
		SyncAlways:    c.SyncAlways,
	}
	if port == 0 {
		opts.Port = randomPort
	}
	if err := cluster(opts, c.Cluster); err != nil {
		dir.unlock()
		return nil, err
	}
	ns, err := server.NewServer(opts)
	if err != nil {
		dir.unlock()
		return nil, fmt.Errorf("embedded: %w", err)
	}
	log := newLog(c.Log)
	ns.SetLoggerV2(log, false, false, false)
	started := make(chan struct{})
	go func() {
		defer close(started)
		ns.Start()
	}()
	if err := ready(ctx, ns, log); err != nil {
		<-started // it would go on to write to the store of a server that is shut down
		ns.Shutdown()
		ns.WaitForShutdown()
		dir.unlock()
		return nil, err
	}
	s := &Server{ns: ns, dir: dir, token: c.Token}
	if a, ok := ns.Addr().(*net.TCPAddr); ok && c.Listen != "" {
		s.addr = a.String()
	}
	return s, nil
}

// cluster sets the options of a server of a cluster.
func cluster(opts *server.Options, c *Cluster) error {
	if c == nil {
		return nil
	}
	host, port, err := loopback(c.Listen)
	if err != nil {
		return err
	}
	opts.ServerName = c.Server
	opts.Cluster = server.ClusterOpts{Name: clusterName, Host: host, Port: port}
	var user *url.Userinfo
	if token := opts.Authorization; token != "" { // another server may do what any client may
		opts.Cluster.Username, opts.Cluster.Password = clusterName, token
		user = url.UserPassword(clusterName, token)
	}
	for _, r := range c.Routes {
		if _, _, err := loopback(r); err != nil {
			return err
		}
		opts.Routes = append(opts.Routes, &url.URL{Scheme: "nats", User: user, Host: r})
	}
	return nil
}

// ready returns when the server takes connections, and an error if it will not.
func ready(ctx context.Context, ns *server.Server, log *log) error {
	const look = 5 * time.Millisecond // arbitrary: a start takes some 10 ms
	for !ns.ReadyForConnections(look) {
		if why := log.fatal(); why != "" {
			return fmt.Errorf("embedded: %s", why)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("embedded: the server did not start: %w", context.Cause(ctx))
		}
	}
	if why := log.broken(); why != "" {
		return fmt.Errorf("embedded: the store directory cannot be read back in full: %s", why)
	}
	return nil
}

// InProcessConn opens a connection that does not go through a socket. It is for nats.InProcessServer, beside nats.Token
// if the server has a token.
func (s *Server) InProcessConn() (net.Conn, error) { return s.ns.InProcessConn() }

// Connect connects a client of this process, not through a socket. It reconnects for ever, as long as s is not closed.
func (s *Server) Connect(opts ...nats.Option) (*nats.Conn, error) {
	all := append([]nats.Option{nats.InProcessServer(s), nats.MaxReconnects(-1), nats.Token(s.token)}, opts...)
	nc, err := nats.Connect("", all...)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	return nc, nil
}

// URL is where the server listens, without its token, "" if only this process reaches it.
func (s *Server) URL() string {
	if s.addr == "" {
		return ""
	}
	return "nats://" + s.addr
}

// Close stops the server, and returns when its files are written and its directory is free.
func (s *Server) Close() {
	s.ns.Shutdown()
	s.ns.WaitForShutdown()
	s.dir.unlock()
}
