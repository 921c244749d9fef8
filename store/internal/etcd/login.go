//go:build etcd

package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
)

// login is an etcd user, and the token that a member has given for the password.
type login struct {
	name, password string

	mu    sync.Mutex
	token string
}

// readLogin reads a file of one line, USER:PASSWORD, that only its owner can read.
func readLogin(path string) (*login, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s holds a password and can be read by others (mode %04o): chmod 600 it", path,
			info.Mode().Perm())
	}
	text := make([]byte, 4096)
	n, err := f.Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: expected one line, USER:PASSWORD: %w", path, err)
	}
	line, rest, _ := strings.Cut(string(text[:n]), "\n")
	name, password, ok := strings.Cut(strings.TrimSuffix(line, "\r"), ":")
	if !ok || name == "" || strings.TrimSpace(rest) != "" {
		return nil, fmt.Errorf("%s: expected one line, USER:PASSWORD", path)
	}
	return &login{name: name, password: password}, nil
}

// sign adds the token to a request.
func (l *login) sign(req *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.token != "" {
		req.Header.Set("Authorization", l.token)
	}
}

// wanted reports whether an answer asks for a new token. etcd has several ways to say so.
func (l *login) wanted(err error) bool {
	r := new(refusal)
	if !errors.As(err, &r) {
		return false
	}
	return r.Code == codeNobody || strings.Contains(r.Message, "invalid auth token") ||
		strings.Contains(r.Message, "user name is empty") ||
		strings.Contains(r.Message, "revision of auth store is old")
}

// renew gets a token for the password.
func (l *login) renew(ctx context.Context, g *gateway) error {
	body, err := json.Marshal(map[string]string{"name": l.name, "password": l.password})
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.token = "" // etcd would check an old token before the password
	l.mu.Unlock()
	got, _, err := g.post(ctx, "/v3/auth/authenticate", body)
	if err != nil {
		return fmt.Errorf("user %s: %w", l.name, err)
	}
	var out struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(got, &out); err != nil || out.Token == "" {
		return fmt.Errorf("user %s: etcd has given no token", l.name)
	}
	l.mu.Lock()
	l.token = out.Token
	l.mu.Unlock()
	return nil
}
