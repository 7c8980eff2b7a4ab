package served

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"
)

// Certificate makes a certificate for this machine that is its own authority.
func Certificate(t testing.TB) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	own := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, own, own, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	write := func(name, kind string, data []byte) string {
		name = filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600))
		return name
	}
	return write("cert.pem", "CERTIFICATE", cert), write("key.pem", "PRIVATE KEY", private)
}

// Secure starts a server with TLS and the users of the file accounts.conf in the directory setup, whose passwords are
// "secret". at is its address, and ca the file of its authority.
func Secure(t testing.TB, setup string) (at, ca string) {
	t.Helper()
	for _, name := range []string{"ALBUMS_PASSWORD", "OWNER_PASSWORD", "REPORTS_PASSWORD"} {
		t.Setenv(name, "secret")
	}
	opts, err := server.ProcessConfigFile(filepath.Join(setup, "accounts.conf"))
	require.NoError(t, err)
	ca, key := Certificate(t)
	cert, err := tls.LoadX509KeyPair(ca, key)
	require.NoError(t, err)
	const busy = 60 // seconds that a busy machine may take for what a client does within two otherwise
	opts.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}}
	opts.TLS, opts.TLSTimeout, opts.AuthTimeout = true, busy, busy
	opts.Host, opts.Port, opts.JetStream = "127.0.0.1", server.RANDOM_PORT, true
	opts.NoSigs, opts.NoLog, opts.StoreDir = true, true, t.TempDir()
	return start(t, opts).Addr().String(), ca
}
