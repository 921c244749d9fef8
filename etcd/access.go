package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"

	"google.golang.org/grpc/credentials"
)

// Environment variables that name files: certificates and a key for etcds://, and a user and password for
// either scheme.
const (
	envCA   = "PLACECTL_ETCD_CACERT"
	envCert = "PLACECTL_ETCD_CERT"
	envKey  = "PLACECTL_ETCD_KEY"
	envAuth = "PLACECTL_ETCD_AUTH"
)

// secure reads the files for etcds://. Without a CA, those of the machine count.
func secure(env func(string) string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if path := env(envCA); path != "" {
		pem, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", envCA, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: %s holds no certificate in PEM", envCA, path)
		}
	}
	cert, key := env(envCert), env(envKey)
	if (cert == "") != (key == "") {
		return nil, fmt.Errorf("%s and %s go together", envCert, envKey)
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", envCert, envKey, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// readLogin reads a file of one line, USER:PASSWORD, that only its owner can read.
func readLogin(path string) (user, password string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", "", err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", "", fmt.Errorf("%s holds a password and can be read by others (mode %04o): chmod 600 it", path,
			info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	line, rest, _ := strings.Cut(string(text), "\n")
	user, password, ok := strings.Cut(strings.TrimSuffix(line, "\r"), ":")
	if !ok || user == "" || password == "" || strings.TrimSpace(rest) != "" {
		return "", "", fmt.Errorf("%s: expected one line, USER:PASSWORD", path)
	}
	return user, password, nil
}

// way keeps the last error on the way to the members, which the client does not tell in time.
type way struct {
	mu     sync.Mutex
	failed error // of a connection or of TLS
	tls    bool  // failed is of TLS: trying again does not help
	made   bool  // a connection has worked
}

func (w *way) note(err error, tls bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed, w.tls = err, tls
}

// last returns the last error on the way, or err if there is none.
func (w *way) last(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return w.failed
	}
	return err
}

// wrong returns the error of TLS if no connection has worked; nil if there is none.
func (w *way) wrong() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tls && !w.made {
		return w.failed
	}
	return nil
}

func (w *way) dial(ctx context.Context, addr string) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		w.note(err, false)
	}
	return conn, err
}

// watchful is TLS whose errors are kept.
type watchful struct {
	credentials.TransportCredentials
	way *way
}

func (c *watchful) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn,
	credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil {
		c.way.note(fmt.Errorf("%s: %w", raw.RemoteAddr(), err), aboutCertificate(err))
		return nil, nil, err
	}
	return &watchedConn{Conn: conn, way: c.way}, info, nil
}

func (c *watchful) Clone() credentials.TransportCredentials {
	return &watchful{c.TransportCredentials.Clone(), c.way}
}

// aboutCertificate reports whether an error is about certificates, and no torn connection.
func aboutCertificate(err error) bool {
	var wrong *tls.CertificateVerificationError
	return errors.As(err, &wrong) || strings.Contains(err.Error(), "remote error: tls: ")
}

// watchedConn notes whether the member accepts the certificate. With TLS 1.3 it says so after the handshake.
type watchedConn struct {
	net.Conn
	way *way
}

func (c *watchedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.way.mu.Lock()
		c.way.made = true
		c.way.mu.Unlock()
	} else if err != nil && aboutCertificate(err) {
		c.way.note(fmt.Errorf("%s: %w", c.RemoteAddr(), err), true)
	}
	return n, err
}
