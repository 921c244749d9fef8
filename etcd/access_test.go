package etcd

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/etcd/internal/members"
	"github.com/placectl/placectl/internal/replica"
	"github.com/placectl/placectl/internal/replica/drivertest"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestLoginFile: user and password come from a file that only its owner can read.
func TestLoginFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "auth")
	c := replica.Config{Scheme: "etcd", Members: []string{"127.0.0.1"}, Prefix: "login"}
	env := func(name string) string { return map[string]string{envAuth: path}[name] }
	for text, mode := range map[string]os.FileMode{"": 0o600, "batch\n": 0o600, ":secret\n": 0o600, "a:b\nc:d\n": 0o600,
		"batch:secret\n": 0o644} {
		want := "USER:PASSWORD"
		if mode != 0o600 {
			want = "chmod 600"
		}
		if err := errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		if _, err := open(c, env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q, %o: %v", text, mode, err)
		}
	}
}

// TestLogin: with etcd's users and roles everything works, and who may not gets an error that says so.
func TestLogin(t *testing.T) {
	eachEtcd(t, 3, func(t *testing.T, cluster *members.Cluster) {
		root := connect(t, "ours", cluster.Hosts...)
		start := drivertest.Make(t, root)
		ask := func(what string, call func(ctx context.Context, c *clientv3.Client) error) {
			t.Helper()
			if err := root.read(drivertest.Soon(t), call); err != nil && !strings.Contains(err.Error(), "already") {
				t.Fatalf("%s: %v", what, err)
			}
		}
		for _, name := range []string{"root", "batch"} {
			ask("user "+name, func(ctx context.Context, c *clientv3.Client) error {
				_, err := c.UserAdd(ctx, name, name+":pass")
				return err
			})
			ask("role "+name, func(ctx context.Context, c *clientv3.Client) error {
				_, err := c.RoleAdd(ctx, name)
				return err
			})
			ask("grant "+name, func(ctx context.Context, c *clientv3.Client) error {
				_, err := c.UserGrantRole(ctx, name, name)
				return err
			})
		}
		ask("permission", func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.RoleGrantPermission(ctx, "batch", "ours/", clientv3.GetPrefixRangeEnd("ours/"),
				clientv3.PermissionType(clientv3.PermReadWrite))
			return err
		})
		ask("enable", func(ctx context.Context, c *clientv3.Client) error { _, err := c.AuthEnable(ctx); return err })
		path := filepath.Join(t.TempDir(), "auth")
		as := func(text, prefix string) *driver {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return connectWith(t, replica.Config{Scheme: "etcd", Members: cluster.Hosts, Prefix: prefix},
				map[string]string{envAuth: path})
		}
		d := as("batch:batch:pass\n", "ours")
		at := drivertest.Put(t, d, start, append([]byte{1}, make([]byte, pieceBytes)...), nil)
		seen := make(chan error, 1)
		go func() { _, err := d.After(drivertest.Soon(t), at, true); seen <- err }()
		turn, err := d.Turn(drivertest.Soon(t))
		if err != nil {
			t.Fatal(err)
		}
		at = drivertest.Put(t, d, at, []byte("\x01two"), turn)
		if err := <-seen; err != nil {
			t.Fatal(err)
		}
		kept(t, d, start, at, []byte("x"))
		if m, err := d.Members(drivertest.Soon(t)); err != nil || m.Stored == 0 || m.Quota == 0 || !m.ClockKnown {
			t.Errorf("a user other than root: %+v, %v", m, err)
		}
		for what, denied := range map[string]struct {
			d    *driver
			want string
		}{
			"without a user":   {connect(t, "ours", cluster.Hosts...), envAuth},
			"another prefix":   {as("batch:batch:pass\n", "theirs"), "below theirs"},
			"a wrong password": {as("batch:wrong\n", "ours"), "user batch"},
		} {
			began := time.Now()
			_, err := denied.d.After(drivertest.Soon(t), at, false)
			if err == nil || !strings.Contains(err.Error(), denied.want) {
				t.Errorf("%s: %v", what, err)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("%s: that took %v", what, took)
			}
		}
	})
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	path string
}

func newAuthority(t *testing.T, dir, name string) *authority {
	a := &authority{path: filepath.Join(dir, name+".pem")}
	a.cert, a.key = a.sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: name}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, a.path, "")
	return a
}

// sign makes a certificate and a key, and writes them. An authority signs its own first.
func (a *authority) sign(t *testing.T, c *x509.Certificate, certPath, keyPath string) (*x509.Certificate,
	*ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour),
		time.Now().Add(time.Hour)
	parent, by := a.cert, a.key
	if parent == nil {
		parent, by = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, certPath, "CERTIFICATE", der)
	if keyPath != "" {
		writePEM(t, keyPath, "EC PRIVATE KEY", secret)
	}
	c, err = x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c, key
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTLS: etcds:// only connects to members whose certificate the CA has signed, with a certificate of its own. A
// wrong one fails at once.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	ca, other := newAuthority(t, dir, "ca"), newAuthority(t, dir, "other")
	at := func(name string) string { return filepath.Join(dir, name) }
	ca.sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "member"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth,
			x509.ExtKeyUsageClientAuth}}, at("member.pem"), at("member.key"))
	ca.sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "batch"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, at("client.pem"), at("client.key"))
	for name, binary := range members.Versions() {
		t.Run(name, func(t *testing.T) {
			host := startEtcd(t, binary, 1, "--cert-file="+at("member.pem"), "--key-file="+at("member.key"),
				"--trusted-ca-file="+ca.path, "--client-cert-auth").Hosts[0]
			dial := func(env map[string]string) *driver {
				return connectWith(t, replica.Config{Scheme: "etcds", Members: []string{host}, Prefix: "tls"}, env)
			}
			full := map[string]string{envCA: ca.path, envCert: at("client.pem"), envKey: at("client.key")}
			d := dial(full)
			start := drivertest.Make(t, d)
			drivertest.Put(t, d, start, []byte("\x01one"), nil)
			if m, err := d.Members(drivertest.Soon(t)); err != nil || !m.ClockKnown {
				t.Error(m, err)
			}
			if _, err := d.After(drivertest.Soon(t), start, true); err != nil {
				t.Error(err)
			}
			for what, env := range map[string]map[string]string{
				"of another CA":         {envCA: other.path, envCert: at("client.pem"), envKey: at("client.key")},
				"without a certificate": {envCA: ca.path},
			} {
				began := time.Now()
				if _, err := dial(env).After(drivertest.Soon(t), start, false); err == nil ||
					!strings.Contains(err.Error(), "certificate") {
					t.Errorf("%s: %v", what, err)
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("%s: that took %v", what, took)
				}
			}
		})
	}
	c := replica.Config{Scheme: "etcds", Members: []string{"127.0.0.1"}, Prefix: "x"}
	for _, env := range []map[string]string{{envCA: at("none.pem")}, {envCA: at("client.key")},
		{envCert: at("client.pem")}, {envCert: at("client.pem"), envKey: ca.path}} {
		if _, err := open(c, func(name string) string { return env[name] }); err == nil ||
			!strings.Contains(err.Error(), "PLACECTL_ETCD_") {
			t.Errorf("%v: %v", env, err)
		}
	}
}

// TestEndpoints: the port has a default, for IPv6, too.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	for member, want := range map[string]string{"a": "a:2379", "a:1": "a:1", "[::1]": "[::1]:2379",
		"[::1]:2": "[::1]:2"} {
		if got := connect(t, "x", member).config.Endpoints[0]; got != "http://"+want {
			t.Errorf("%s: %s", member, got)
		}
	}
}

// TestTooLarge: an entry that is too long for the members fails at once, and says what to change.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := connect(t, "large", startEtcd(t, self, 1, "--max-request-bytes", "100000").Hosts[0])
	at := drivertest.Make(t, d)
	for _, size := range []int{200_000, pieceBytes, 2 * pieceBytes} {
		_, err := d.Append(within(t, 10*time.Second), at, append([]byte{1}, make([]byte, size)...), nil)
		if !errors.Is(err, replica.ErrFull) || !strings.Contains(err.Error(), "--max-request-bytes") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// TestManyLogIn: processes that log in at once do not make each other's time run out, although etcd checks one
// password after another.
func TestManyLogIn(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	host := startEtcd(t, self, 1).Hosts[0]
	at := drivertest.Make(t, connect(t, "db", host))
	withUser(t, host)
	path := filepath.Join(t.TempDir(), "auth")
	if err := os.WriteFile(path, []byte("root:pass\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	for range 6 {
		d := connectWith(t, replica.Config{Scheme: "etcd", Members: []string{host}, Prefix: "db"},
			map[string]string{envAuth: path})
		go func() {
			_, err := d.Append(drivertest.Soon(t), at, []byte("\x01one"), nil)
			if errors.Is(err, replica.ErrLost) { // a busy machine
				err = nil
			}
			done <- err
		}()
	}
	for range 6 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
