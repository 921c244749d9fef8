//go:build etcd

package etcd

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/placectl/placectl/store/internal/replica"
)

// How long to wait for a member.
const (
	// askNext: if a member has not answered by then, the next one is asked as well.
	askNext = 250 * time.Millisecond
	// giveUp: a request without an answer by then counts as lost, and its member may be asked
	// again.
	giveUp = 10 * time.Second
	// again is the pause after every member has failed.
	again = 50 * time.Millisecond
)

// mostAnswer limits the bytes read of an answer. It is far more than any should have.
const mostAnswer = 1 << 30

// gateway asks members, one after the other.
type gateway struct {
	members []string // http://HOST:PORT
	client  *http.Client
	login   *login // nil if etcd has no users
	best    atomic.Int32
	cluster atomic.Uint64 // id of the cluster that has the log; 0 if not known yet
	detail  func(string)
}

func newGateway(members []string, scheme string, secured *tls.Config, l *login, detail func(string)) *gateway {
	g := &gateway{login: l, detail: detail}
	for _, m := range members {
		g.members = append(g.members, scheme+"://"+m)
	}
	g.best.Store(rand.Int32N(int32(len(members))))      // so that not every process asks the same member
	g.client = &http.Client{Transport: &http.Transport{ // Proxy is nil: etcd is near
		DialContext:         (&net.Dialer{Timeout: giveUp / 2, KeepAlive: 5 * time.Second}).DialContext,
		TLSClientConfig:     secured,
		TLSHandshakeTimeout: giveUp / 2,
		MaxIdleConnsPerHost: 4,
		IdleConnTimeout:     time.Minute,
		DisableCompression:  true,
	}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return g
}

// refusal is etcd's answer that it has not carried out a request.
type refusal struct {
	Code    int    `json:"code"` // of gRPC
	Message string `json:"message"`
}

func (r *refusal) Error() string { return "etcd refuses: " + r.Message }

// gRPC codes that are answers. All others mean that the member could not tell.
const (
	codeInvalid   = 3
	codeNotFound  = 5
	codeForbidden = 7
	codeExhausted = 8
	codeUnready   = 9
	codeRange     = 11
	codeUnknown   = 12 // no such call
	codeNobody    = 16 // the token is unknown, or no longer known
)

// keyMissing reports whether the request tried to detach a missing key from its lease.
func (r *refusal) keyMissing() bool { return r.Message == "etcdserver: key not found" }

// final reports whether the request was not and will not be carried out.
func (r *refusal) final() bool {
	switch r.Code {
	case codeInvalid, codeNotFound, codeForbidden, codeUnready, codeRange, codeUnknown, codeNobody:
		return true
	case codeExhausted:
		return r.Message != "etcdserver: too many requests"
	}
	return false
}

// answer is the outcome of one request to one member.
type answer struct {
	member int
	body   []byte
	err    error // a final refusal, or why there is no answer
	sent   bool  // the request may have arrived
}

// errCopies means that other copies of a request may still be carried out.
var errCopies = errors.New("a copy may be under way")

// call makes a request that may be repeated. A *refusal is final. Any other error is
// replica.ErrAway if nothing was sent, and replica.ErrLost if something was. An error that is
// also errCopies comes with an answer to one of several copies. The others may still be
// carried out.
func (g *gateway) call(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	for try := 0; ; try++ {
		got, copies, err := g.post(ctx, path, body)
		if try < 2 && g.login != nil && g.login.wanted(err) {
			if err := g.login.renew(ctx, g); err != nil {
				return err
			}
			continue
		}
		if err == nil && out != nil {
			if err = json.Unmarshal(got, out); err != nil {
				err = fmt.Errorf("%w: an answer is not one of etcd's gateway: %w", replica.ErrLost, err)
			}
		}
		if copies && !errors.Is(err, replica.ErrLost) {
			err = errors.Join(err, errCopies)
		}
		return err
	}
}

// read is call for requests that change nothing.
func (g *gateway) read(ctx context.Context, path string, in, out any) error {
	err := g.call(ctx, path, in, out)
	if !errors.Is(err, errCopies) {
		if errors.Is(err, replica.ErrLost) { // a read leaves nothing in doubt
			err = fmt.Errorf("%w: %v", replica.ErrAway, cause(err))
		}
		return err
	}
	if r := new(refusal); errors.As(err, &r) {
		return r
	}
	return nil
}

// anyMember means no member in particular.
const anyMember = -1

// readFrom carries out a reading transaction at one member only. If it fails, there is no
// answer.
func (g *gateway) readFrom(ctx context.Context, member int, t transaction, out *transactionAnswer) error {
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askNext)
	defer cancel()
	got, err := g.exchange(ctx, http.MethodPost, g.members[member]+"/v3/kv/txn", body)
	if err == nil {
		err = json.Unmarshal(got, out)
	}
	if err != nil {
		*out = transactionAnswer{}
	}
	return err
}

// post sends bytes to one member after the other until one answers. copies means that others
// may also have them, and may still carry them out.
func (g *gateway) post(ctx context.Context, path string, body []byte) (got []byte, copies bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan answer, len(g.members))    // late answers do not block
	running := make([]*atomic.Bool, len(g.members)) // whether what was sent to each may have arrived
	asked, lost := 0, 0
	failed := make([]error, len(g.members))
	ask := func() {
		for range g.members {
			m := (int(g.best.Load()) + asked) % len(g.members)
			asked++
			if running[m] == nil {
				sent := new(atomic.Bool)
				running[m] = sent
				go func() { answers <- g.once(ctx, m, path, body, sent) }()
				return
			}
		}
	}
	underWay := func() bool {
		return lost > 0 || slices.ContainsFunc(running, func(sent *atomic.Bool) bool {
			return sent != nil && sent.Load()
		})
	}
	ask()
	next := time.NewTimer(askNext)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, false, outcome(underWay(), failed, ctx.Err())
		case <-next.C:
			ask()
			next.Reset(askNext)
		case a := <-answers:
			running[a.member] = nil
			var r *refusal
			if a.err == nil || errors.As(a.err, &r) && r.final() {
				g.best.Store(int32(a.member))
				return a.body, underWay(), a.err
			}
			if a.sent && !errors.As(a.err, new(*stranger)) { // another cluster has nothing of ours
				lost++
			}
			g.note(a, failed)
			if hopeless(failed) {
				return nil, false, outcome(lost > 0, failed, nil)
			}
			if asked%len(g.members) != 0 {
				ask()
				next.Reset(askNext)
			} else {
				next.Reset(again)
			}
		}
	}
}

func (g *gateway) note(a answer, failed []error) {
	if failed[a.member] == nil && g.detail != nil {
		g.detail(fmt.Sprintf("etcd: %s: %v", g.members[a.member], a.err))
	}
	failed[a.member] = a.err
}

// outcome returns the error if no member has answered.
func outcome(sent bool, failed []error, ended error) error {
	is := replica.ErrAway
	if sent {
		is = replica.ErrLost
	}
	for _, err := range failed {
		if err != nil {
			return &silence{is, err}
		}
	}
	return &silence{is, ended}
}

// silence is the error that no member has answered, with the reason of one of them.
type silence struct{ is, why error }

func (s *silence) Error() string   { return fmt.Sprintf("%v: %v", s.is, s.why) }
func (s *silence) Unwrap() []error { return []error{s.is, s.why} }

func cause(err error) error {
	if s := new(silence); errors.As(err, &s) {
		return s.why
	}
	return err
}

// hopeless reports whether every member has failed in a way that a retry does not help: its
// name is unknown, its certificate or ours is not accepted, or it is not etcd.
func hopeless(failed []error) bool {
	for _, err := range failed {
		var (
			name *net.DNSError
			cert *tls.CertificateVerificationError
			op   *net.OpError
			not  *notEtcd
		)
		switch {
		case err == nil:
			return false
		case errors.As(err, &name) && name.IsNotFound, errors.As(err, &cert):
		case errors.As(err, &op) && op.Op == "remote error": // a TLS alert
		case errors.As(err, &not) && not.code < http.StatusInternalServerError:
		case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		default:
			return false
		}
	}
	return true
}

// notEtcd is the error that something else listens there, or an etcd without its gateway.
type notEtcd struct {
	code   int
	status string
}

func (e *notEtcd) Error() string {
	return "what listens there is not etcd, or runs without --enable-grpc-gateway: " + e.status
}

// once sends bytes to one member, and sets sent when they may have arrived.
func (g *gateway) once(ctx context.Context, member int, path string, body []byte, sent *atomic.Bool) answer {
	ctx, cancel := context.WithTimeout(ctx, giveUp)
	defer cancel()
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { sent.Store(true) },
	})
	a := answer{member: member}
	a.body, a.err = g.exchange(traced, http.MethodPost, g.members[member]+path, body)
	a.sent = sent.Load()
	return a
}

// exchange sends one request and reads its answer.
func (g *gateway) exchange(ctx context.Context, method, url string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if g.login != nil {
		g.login.sign(req)
	}
	res, err := g.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return got, g.same(clusterOf(got))
	}
	r := new(refusal)
	if json.Unmarshal(got, r) != nil || r.Message == "" {
		return nil, &notEtcd{res.StatusCode, res.Status}
	}
	return nil, r
}
