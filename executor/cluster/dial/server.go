// Package dial connects a program to the servers of its queue as its flags say. The commands and the examples of this
// module have these flags, and so have programs that are copied from them.
package dial

import (
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/nats-io/nats.go"
)

// A Server says where the servers are, and as whom a program connects to them.
type Server struct {
	// URL has the addresses, with commas between them. Each may have a user with a password.
	URL string

	Creds string // a file with the credentials of the user, "" for none
	CA    string // a file with the authority that has signed the servers' certificates, "" for those of the system
	Inbox string // the prefix of the subjects that the user may listen on, "" for _INBOX
}

// AddFlags adds the flags -nats, -creds, -ca and -inbox, which set s. The default of -nats is the variable NATS_URL of
// the environment, and usage is what the help says of it.
func (s *Server) AddFlags(f *flag.FlagSet, usage string) {
	f.StringVar(&s.URL, "nats", os.Getenv("NATS_URL"), usage)
	f.Lookup("nats").DefValue = "" // the help does not print it: it may have a password
	f.StringVar(&s.Creds, "creds", "", "a `file` with the credentials of the user, if the server asks for them")
	f.StringVar(&s.CA, "ca", "", "a `file` with the authority that has signed the server's certificate, if it is your own")
	f.StringVar(&s.Inbox, "inbox", nats.InboxPrefix[:len(nats.InboxPrefix)-1], "the `prefix` that the user may listen on")
}

// Args returns the arguments for a process that has the flags of [Server.AddFlags], and is to connect as this one. Env
// has what is missing: others of the machine may read arguments, and a URL may have a password.
func (s *Server) Args() []string { return []string{"-creds", s.Creds, "-ca", s.CA, "-inbox", s.Inbox} }

// Env returns the variable of the environment that goes with Args.
func (s *Server) Env() string { return "NATS_URL=" + s.URL }

// String returns the addresses without users and passwords.
func (s *Server) String() string {
	all, err := s.addresses()
	if err != nil { // where a password ends is not known
		return "…" + s.URL[max(0, strings.LastIndexByte(s.URL, '@')):]
	}
	var shown []string
	for _, u := range all {
		if u.User != nil {
			u.User = url.User("…")
		}
		text, _ := url.PathUnescape(u.String())
		shown = append(shown, text)
	}
	return strings.Join(shown, ",")
}

// errMalformed does not say which part of the URL is wrong: that may be a password.
var errMalformed = errors.New("the URL is malformed; a user or password has %2F for /, %2C for a comma, %40 for @ and " +
	"%25 for %")

// addresses returns the parts of the URL.
func (s *Server) addresses() (all []*url.URL, err error) {
	for text := range strings.SplitSeq(s.URL, ",") {
		text = strings.TrimSpace(text)
		if !strings.Contains(text, "://") {
			text = "nats://" + text
		}
		u, err := url.Parse(text)
		if err != nil || strings.Trim(u.Path, "/") != "" || strings.Contains(u.Host, "@") {
			return nil, errMalformed
		}
		all = append(all, u)
	}
	return all, nil
}

// Connect connects to one of the servers, and again whenever the connection is lost. name is what the server shows of
// the connection. It returns an error if there is no server now: see [Server.Await].
func (s *Server) Connect(name string, opts ...nats.Option) (*nats.Conn, error) {
	all := []nats.Option{nats.Name(name), nats.MaxReconnects(-1)}
	if s.Inbox != "" {
		all = append(all, nats.CustomInboxPrefix(s.Inbox))
	}
	if s.Creds != "" {
		all = append(all, nats.UserCredentials(s.Creds))
	}
	if s.CA != "" {
		all = append(all, nats.RootCAs(s.CA))
	}
	_, err := s.addresses()
	var nc *nats.Conn
	if err == nil {
		nc, err = nats.Connect(s.URL, append(all, opts...)...)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w%s", s, err, hint(err))
	}
	return nc, nil
}
