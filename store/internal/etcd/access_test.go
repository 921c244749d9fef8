//go:build etcd

package etcd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/bench/members"
	"github.com/placectl/placectl/store/internal/replica"
)

// TestLogin: user and password come from a file that only its owner can read; a token that
// etcd has forgotten is requested again.
func TestLogin(t *testing.T) {
	f := newFake()
	host := f.member(t, nil)
	made(t, connect(t, "login", host))
	f.user = "batch:secret:with:colons"
	path := filepath.Join(t.TempDir(), "auth")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	c := replica.Config{Scheme: schemePlain, Members: []string{host}, Prefix: "login"}
	env := func(name string) string { return map[string]string{envAuth: path}[name] }
	write(f.user+"\n", 0o644)
	if _, err := open(c, env); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("others can read it: %v", err)
	}
	for _, text := range []string{"", "batch\n", ":secret\n", "a:b\nc:d\n"} {
		write(text, 0o600)
		if _, err := open(c, env); err == nil || !strings.Contains(err.Error(), "USER:PASSWORD") {
			t.Errorf("%q: %v", text, err)
		}
	}
	write("batch:wrong\n", 0o600)
	if _, err := connectWith(t, c, map[string]string{envAuth: path}).After(ending(t), testID.Start()); err == nil ||
		!strings.Contains(err.Error(), "user batch") {
		t.Errorf("a wrong password: %v", err)
	}
	if _, err := connect(t, "login", host).After(ending(t), testID.Start()); err == nil ||
		!strings.Contains(err.Error(), envAuth) {
		t.Errorf("without a user: %v", err)
	}
	write(f.user+"\n", 0o600)
	d := connectWith(t, c, map[string]string{envAuth: path})
	at := appended(t, d, testID.Start(), []byte("\x01one"), nil)
	f.mu.Lock()
	clear(f.tokens)
	f.mu.Unlock()
	appended(t, d, at, []byte("\x01two"), nil)
}

// TestRealLogin: the same with etcd's users and roles; a user without rights below a prefix
// gets an error that says so.
func TestRealLogin(t *testing.T) {
	eachReal(t, func(t *testing.T, cluster *members.Cluster) {
		root := connect(t, "ours", cluster.Hosts...)
		made(t, root)
		ask := func(path string, in any) {
			t.Helper()
			err := root.read(ending(t), path, in, nil)
			if err != nil && !strings.Contains(err.Error(), "already") { // a copy may have been first
				t.Fatalf("%s: %v", path, err)
			}
		}
		from, end := root.keys.all()
		ask("/v3/auth/user/add", map[string]string{"name": "root", "password": "r"})
		ask("/v3/auth/role/add", map[string]string{"name": "root"})
		ask("/v3/auth/user/grant", map[string]string{"user": "root", "role": "root"})
		ask("/v3/auth/user/add", map[string]string{"name": "batch", "password": "b"})
		ask("/v3/auth/role/add", map[string]string{"name": "batch"})
		ask("/v3/auth/role/grant",
			map[string]any{"name": "batch", "perm": map[string]any{"permType": "READWRITE", "key": from,
				"range_end": end}})
		ask("/v3/auth/user/grant", map[string]string{"user": "batch", "role": "batch"})
		ask("/v3/auth/enable", struct{}{})
		path := filepath.Join(t.TempDir(), "auth")
		if err := os.WriteFile(path, []byte("batch:b\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		env := map[string]string{envAuth: path}
		d := connectWith(t, replica.Config{Scheme: schemePlain, Members: cluster.Hosts, Prefix: "ours"}, env)
		at := appended(t, d, testID.Start(), append([]byte{1}, make([]byte, pieceBytes)...), nil)
		seen := make(chan error, 1)
		go func() { seen <- d.Watch(ending(t), at) }()
		place, _, err := d.Turn(ending(t), nil, at)
		if err != nil {
			t.Fatal(err)
		}
		appended(t, d, at, []byte("\x01two"), place)
		if err := <-seen; err != nil {
			t.Fatal(err)
		}
		if _, err := connect(t, "ours", cluster.Hosts...).After(ending(t), at); err == nil ||
			!strings.Contains(err.Error(), envAuth) {
			t.Errorf("without a user: %v", err)
		}
		other := connectWith(t, replica.Config{Scheme: schemePlain, Members: cluster.Hosts, Prefix: "theirs"}, env)
		if _, err := other.After(ending(t), at); err == nil || !strings.Contains(err.Error(), "below theirs") {
			t.Errorf("another prefix: %v", err)
		}
		if _, err := d.Size(ending(t)); err != nil {
			t.Errorf("a user who is not root: %v", err)
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

// TestTLS: etcds:// only connects to members whose certificate the CA has signed, with a
// certificate of its own.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	ca, other := newAuthority(t, dir, "ca"), newAuthority(t, dir, "other")
	at := func(name string) string { return filepath.Join(dir, name) }
	ca.sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "member"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth,
			x509.ExtKeyUsageClientAuth}}, at("member.pem"), at("member.key"))
	ca.sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "batch"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, at("client.pem"), at("client.key"))
	test := func(t *testing.T, host string) {
		dial := func(env map[string]string) *driver {
			return connectWith(t, replica.Config{Scheme: schemeSecure, Members: []string{host}, Prefix: "tls"}, env)
		}
		full := map[string]string{envCA: ca.path, envCert: at("client.pem"), envKey: at("client.key")}
		for until := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			if _, err := dial(full).After(ending(t), testID.Start()); errors.Is(err, replica.ErrNoLog) ||
				time.Now().After(until) {
				break // it is up
			}
		}
		d := dial(full)
		start := made(t, d)
		appended(t, d, start, []byte("\x01one"), nil)
		if _, err := d.Clock(ending(t)); err != nil {
			t.Error(err)
		}
		if err := d.Watch(ending(t), start); err != nil {
			t.Error(err)
		}
		began := time.Now()
		if _, err := dial(map[string]string{envCA: other.path, envCert: at("client.pem"),
			envKey: at("client.key")}).After(ending(t), start); err == nil ||
			!strings.Contains(err.Error(), "certificate") {
			t.Errorf("of another CA: %v", err)
		}
		if _, err := dial(map[string]string{envCA: ca.path}).After(ending(t), start); err == nil ||
			!strings.Contains(err.Error(), "certificate") {
			t.Errorf("without a certificate: %v", err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("that took %v", took)
		}
	}
	t.Run("fake", func(t *testing.T) {
		s := httptest.NewUnstartedServer(newFake().handler(nil))
		pair, err := tls.LoadX509KeyPair(at("member.pem"), at("member.key"))
		if err != nil {
			t.Fatal(err)
		}
		trusted := x509.NewCertPool()
		trusted.AddCert(ca.cert)
		s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: trusted,
			ClientAuth: tls.RequireAndVerifyClientCert}
		s.StartTLS()
		t.Cleanup(s.Close)
		test(t, strings.TrimPrefix(s.URL, "https://"))
	})
	for _, binary := range members.Find() {
		t.Run(filepath.Base(binary), func(t *testing.T) {
			test(t, startEtcd(t, binary, 1, "--cert-file="+at("member.pem"), "--key-file="+at("member.key"),
				"--trusted-ca-file="+ca.path, "--client-cert-auth").Hosts[0])
		})
	}
	c := replica.Config{Scheme: schemeSecure, Members: []string{"127.0.0.1"}, Prefix: "x"}
	for _, env := range []map[string]string{{envCA: at("none.pem")}, {envCA: at("client.key")},
		{envCert: at("client.pem")}, {envCert: at("client.pem"), envKey: ca.path}} {
		if _, err := open(c, func(name string) string { return env[name] }); err == nil ||
			!strings.Contains(err.Error(), "PLACECTL_ETCD_") {
			t.Errorf("%v: %v", env, err)
		}
	}
}
