//go:build etcd

package etcd

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/placectl/placectl/store/internal/replica"
)

// Environment variables that name files: certificates and a key for etcds://, and a user and
// password for either scheme.
const (
	envCA   = "PLACECTL_ETCD_CACERT"
	envCert = "PLACECTL_ETCD_CERT"
	envKey  = "PLACECTL_ETCD_KEY"
	envAuth = "PLACECTL_ETCD_AUTH"
)

const (
	schemePlain  = "etcd"
	schemeSecure = "etcds"
	defaultPort  = "2379"
)

func init() {
	for _, scheme := range []string{schemePlain, schemeSecure} {
		replica.Register(scheme, func(c replica.Config) (replica.Driver, error) { return open(c, os.Getenv) })
	}
}

// driver is a connection to one log.
type driver struct {
	*gateway
	keys       keys
	renewPlace time.Duration // how often a place in the line is kept alive

	mu       sync.Mutex
	unsure   map[[16]byte]bool     // entries of which a copy may be under way
	deposits map[[16]byte]*deposit // parts of entries that are not put yet
	places   map[*place]bool       // in the line, kept alive
	kept     lease                 // for the next place; used if there is no folder
	leases   string                // the file that keeps it for the machine; "" if there is no folder
	leaving  sync.WaitGroup        // places that are being given up
}

var _ replica.Driver = (*driver)(nil)

func open(c replica.Config, env func(string) string) (replica.Driver, error) {
	if len(c.Members) == 0 {
		return nil, fmt.Errorf("%w: there is no member in it", replica.ErrName)
	}
	members := make([]string, len(c.Members))
	for i, m := range c.Members {
		if _, _, err := net.SplitHostPort(m); err != nil {
			m = net.JoinHostPort(m, defaultPort)
		}
		members[i] = m
	}
	var l *login
	if path := env(envAuth); path != "" {
		var err error
		if l, err = readLogin(path); err != nil {
			return nil, fmt.Errorf("%s: %w", envAuth, err)
		}
	}
	scheme, secured := "http", (*tls.Config)(nil)
	if c.Scheme == schemeSecure {
		var err error
		if scheme, secured, err = secure(env); err != nil {
			return nil, err
		}
	}
	d := &driver{
		gateway: newGateway(members, scheme, secured, l, c.Detail), keys: keys(c.Prefix), renewPlace: renewPlace,
		unsure: make(map[[16]byte]bool), deposits: make(map[[16]byte]*deposit), places: make(map[*place]bool),
	}
	if c.Folder != "" {
		d.leases = filepath.Join(c.Folder, c.Sum()+".lease")
	}
	return d, nil
}

// secure reads the files for etcds://. Without a CA, those of the machine count.
func secure(env func(string) string) (string, *tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if path := env(envCA); path != "" {
		pem, err := os.ReadFile(path)
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w", envCA, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return "", nil, fmt.Errorf("%s: %s holds no certificate in PEM", envCA, path)
		}
	}
	cert, key := env(envCert), env(envKey)
	if (cert == "") != (key == "") {
		return "", nil, fmt.Errorf("%s and %s go together", envCert, envKey)
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return "", nil, fmt.Errorf("%s, %s: %w", envCert, envKey, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return "https", c, nil
}

// Close gives up the places in the line, and closes the connections.
func (d *driver) Close() error {
	d.mu.Lock()
	places := slices.Collect(maps.Keys(d.places))
	d.mu.Unlock()
	for _, p := range places {
		p.Leave()
	}
	d.leaving.Wait()
	d.client.CloseIdleConnections()
	return nil
}
