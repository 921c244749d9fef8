//go:build etcd

package etcd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake is etcd in memory, with the conventions of the gateway: 64-bit numbers are strings, and
// answers omit what is 0, false or empty. Several servers may be its members.
type fake struct {
	mu       sync.Mutex
	changed  chan struct{} // closed at every change
	revision int64
	pairs    map[string]*fakePair
	ever     map[string]bool // keys that were put
	leases   map[int64]time.Time
	last     int64 // lease
	user     string
	tokens   map[string]bool
	noSpace  bool
	cluster  uint64
	older    *fake // the member's own state, until it is read twice; nil: the newest
	now      func() time.Time
}

type fakePair struct {
	value                     []byte
	created, changed, version int64
	lease                     int64
}

func newFake() *fake {
	return &fake{changed: make(chan struct{}), revision: 1, cluster: 14841639068965178418,
		pairs: make(map[string]*fakePair), ever: make(map[string]bool), leases: make(map[int64]time.Time),
		tokens: make(map[string]bool), now: time.Now}
}

// member starts a server. It calls hook before it carries out a request and before it sends
// the answer. hook may hang, or return false to cut the connection.
func (f *fake) member(t testing.TB, hook func(r *http.Request, after bool) bool) string {
	s := httptest.NewServer(f.handler(hook))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return strings.TrimPrefix(s.URL, "http://")
}

func (f *fake) handler(hook func(r *http.Request, after bool) bool) http.Handler {
	cut := func(r *http.Request, after bool) {
		if hook != nil && !hook(r, after) {
			panic(http.ErrAbortHandler)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		cut(r, false)
		if r.URL.Path == "/v3/watch" {
			f.watch(w, r, body.Bytes())
			return
		}
		answer, refused := f.answer(r, body.Bytes())
		cut(r, true)
		w.Header().Set("Date", f.now().UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Type", "application/json")
		if refused != nil {
			w.WriteHeader(http.StatusBadRequest)
			answer = map[string]any{"error": refused.Message, "message": refused.Message, "code": refused.Code}
		}
		_ = json.NewEncoder(w).Encode(answer)
	})
}

func (f *fake) answer(r *http.Request, body []byte) (any, *refusal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expire()
	if f.user != "" && strings.HasPrefix(r.URL.Path, "/v3/") && r.URL.Path != "/v3/auth/authenticate" {
		if token := r.Header.Get("Authorization"); token == "" {
			return nil, &refusal{codeInvalid, "etcdserver: user name is empty"}
		} else if !f.tokens[token] {
			return nil, &refusal{codeNobody, "etcdserver: invalid auth token"}
		}
	}
	var loose struct {
		TTL            int64 `json:",string"`
		ID             int64 `json:",string"`
		Name, Password string
	}
	switch r.URL.Path {
	case "/version":
		return map[string]string{"etcdserver": "3.4.0"}, nil
	case "/v3/kv/txn":
		var t transaction
		if err := json.Unmarshal(body, &t); err != nil {
			return nil, &refusal{codeInvalid, err.Error()}
		}
		if old := f.older; old != nil && len(t.Then) > 0 && t.Then[0].Range != nil && t.Then[0].Range.Serializable {
			f.older = nil
			return old.transact(t)
		}
		return f.transact(t)
	case "/v3/kv/range":
		var q ranged
		if err := json.Unmarshal(body, &q); err != nil {
			return nil, &refusal{codeInvalid, err.Error()}
		}
		return f.find(q), nil
	case "/v3/kv/deleterange":
		var q deleted
		if err := json.Unmarshal(body, &q); err != nil {
			return nil, &refusal{codeInvalid, err.Error()}
		}
		answer, refused := f.transact(transaction{Then: []operation{{Delete: &q}}})
		return answer, refused
	case "/v3/maintenance/status":
		return map[string]string{"version": "3.4.0", "dbSize": "32768"}, nil
	case "/v3/maintenance/alarm":
		if f.noSpace {
			return map[string]any{"alarms": []any{map[string]string{"memberID": "1", "alarm": "NOSPACE"}}}, nil
		}
		return map[string]any{}, nil
	}
	if err := json.Unmarshal(body, &loose); err != nil && r.URL.Path != "/metrics" {
		return nil, &refusal{codeInvalid, err.Error()}
	}
	switch r.URL.Path {
	case "/v3/lease/grant":
		f.last++
		f.leases[f.last] = f.now().Add(time.Duration(loose.TTL) * time.Second)
		return map[string]any{"header": f.head(), "ID": fmt.Sprint(f.last), "TTL": fmt.Sprint(loose.TTL)}, nil
	case "/v3/lease/keepalive":
		if _, ok := f.leases[loose.ID]; !ok {
			return map[string]any{"result": map[string]any{"header": f.head(), "ID": fmt.Sprint(loose.ID)}}, nil
		}
		f.leases[loose.ID] = f.now().Add(placeLease * time.Second)
		return map[string]any{"result": map[string]any{"header": f.head(), "ID": fmt.Sprint(loose.ID),
			"TTL": fmt.Sprint(placeLease)}}, nil
	case "/v3/lease/revoke":
		if _, ok := f.leases[loose.ID]; !ok {
			return nil, &refusal{codeNotFound, "etcdserver: requested lease not found"}
		}
		f.leases[loose.ID] = time.Time{}
		f.expire()
		return map[string]any{}, nil
	case "/v3/auth/authenticate":
		if loose.Name+":"+loose.Password != f.user {
			return nil, &refusal{codeInvalid, "etcdserver: authentication failed, invalid user ID or password"}
		}
		token := fmt.Sprintf("token.%d", len(f.tokens))
		f.tokens[token] = true
		return map[string]string{"token": token}, nil
	}
	return nil, &refusal{codeUnknown, "Not Found"}
}

// expire ends leases whose time is over.
func (f *fake) expire() {
	for id, until := range f.leases {
		if f.now().Before(until) {
			continue
		}
		delete(f.leases, id)
		for key, p := range f.pairs {
			if p.lease == id {
				delete(f.pairs, key)
				f.stir()
			}
		}
	}
}

func (f *fake) head() map[string]string {
	return map[string]string{"cluster_id": fmt.Sprint(f.cluster), "revision": fmt.Sprint(f.revision)}
}

// lag makes the next read of a member's own state return the present state, whatever happens
// before.
func (f *fake) lag() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.older = &fake{revision: f.revision, pairs: maps.Clone(f.pairs)}
}

func (f *fake) stir() {
	f.revision++
	close(f.changed)
	f.changed = make(chan struct{})
}

// within returns the keys of a range, in order.
func (f *fake) within(key, end []byte) (list []string) {
	for k := range f.pairs {
		if len(end) == 0 && k == string(key) || len(end) > 0 && k >= string(key) &&
			(k < string(end) || string(end) == "\x00") {
			list = append(list, k)
		}
	}
	slices.Sort(list)
	return list
}

func (f *fake) find(q ranged) map[string]any {
	list := f.within(q.Key, q.End)
	if q.MaxCreated != 0 {
		list = slices.DeleteFunc(list, func(k string) bool { return f.pairs[k].created > q.MaxCreated })
	}
	if q.By == "" && q.Order == "DESCEND" {
		slices.Reverse(list)
	}
	if q.By == targetCreated {
		slices.SortFunc(list, func(a, b string) int {
			c := cmp.Compare(f.pairs[a].created, f.pairs[b].created)
			if q.Order == "DESCEND" {
				return -c
			}
			return c
		})
	}
	out := map[string]any{"header": f.head()}
	if n := len(list); n > 0 {
		out["count"] = fmt.Sprint(n)
	}
	if q.Limit > 0 && int64(len(list)) > q.Limit {
		list, out["more"] = list[:q.Limit], true
	}
	var kvs []any
	for _, k := range list {
		p := f.pairs[k]
		kv := map[string]any{"key": []byte(k), "create_revision": fmt.Sprint(p.created),
			"mod_revision": fmt.Sprint(p.changed), "version": fmt.Sprint(p.version)}
		if len(p.value) > 0 && !q.KeysOnly {
			kv["value"] = p.value
		}
		if p.lease != 0 {
			kv["lease"] = fmt.Sprint(p.lease)
		}
		kvs = append(kvs, kv)
	}
	if kvs != nil {
		out["kvs"] = kvs
	}
	return out
}

// holds evaluates a comparison as etcd does: a range without keys counts as zeros.
func (f *fake) holds(c comparison) bool {
	list := f.within(c.Key, c.End)
	if len(list) == 0 {
		return c.Target != targetValue && f.compare(c, &fakePair{})
	}
	for _, k := range list {
		if !f.compare(c, f.pairs[k]) {
			return false
		}
	}
	return true
}

func (f *fake) compare(c comparison, p *fakePair) bool {
	num := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	var order int
	switch c.Target {
	case targetValue:
		order = bytes.Compare(p.value, *c.Value)
	case targetVersion:
		order = cmp.Compare(p.version, num(c.Version))
	case targetCreated:
		order = cmp.Compare(p.created, num(c.Created))
	case targetChanged:
		order = cmp.Compare(p.changed, num(c.Changed))
	default:
		panic(c.Target)
	}
	return c.Result == equal && order == 0 || c.Result == greater && order > 0 || c.Result == less && order < 0
}

func (f *fake) transact(t transaction) (any, *refusal) {
	took := true
	for _, c := range t.If {
		took = took && f.holds(c)
	}
	list := t.Else
	if took {
		list = t.Then
	}
	if len(t.Then) > 128 || len(t.Else) > 128 {
		return nil, &refusal{codeInvalid, "etcdserver: too many operations in txn request"}
	}
	for _, o := range list { // if one part is impossible, nothing is changed
		if o.Put == nil {
			continue
		}
		if _, ok := f.leases[o.Put.Lease]; o.Put.Lease != 0 && !ok {
			return nil, &refusal{codeNotFound, "etcdserver: requested lease not found"}
		}
		if o.Put.Keep && f.pairs[string(o.Put.Key)] == nil {
			return nil, &refusal{codeInvalid, "etcdserver: key not found"}
		}
		if len(o.Put.Value) > 1<<20+1<<19 {
			return nil, &refusal{codeInvalid, "etcdserver: request is too large"}
		}
		if f.noSpace {
			return nil, &refusal{codeExhausted, "etcdserver: mvcc: database space exceeded"}
		}
	}
	var answers []any
	wrote := false
	for _, o := range list {
		switch {
		case o.Range != nil:
			answers = append(answers, map[string]any{"response_range": f.find(*o.Range)})
		case o.Delete != nil:
			for _, k := range f.within(o.Delete.Key, o.Delete.End) {
				delete(f.pairs, k)
				wrote = true
			}
			answers = append(answers, map[string]any{"response_delete_range": map[string]any{}})
		case o.Put != nil:
			p := f.pairs[string(o.Put.Key)]
			if p == nil {
				p = &fakePair{created: f.revision + 1}
				f.pairs[string(o.Put.Key)], f.ever[string(o.Put.Key)] = p, true
			}
			if !o.Put.Keep {
				p.value = o.Put.Value
			}
			p.changed, p.lease = f.revision+1, o.Put.Lease
			p.version++
			wrote = true
			answers = append(answers, map[string]any{"response_put": map[string]any{}})
		}
	}
	if wrote {
		f.stir()
	}
	out := map[string]any{"header": f.head()}
	if took {
		out["succeeded"] = true
	}
	if answers != nil {
		out["responses"] = answers
	}
	return out, nil
}

// watch sends a line when the watch begins, and one for each change of anything.
func (f *fake) watch(w http.ResponseWriter, r *http.Request, _ []byte) {
	send := func(s string) { fmt.Fprintln(w, s); w.(http.Flusher).Flush() }
	f.mu.Lock()
	changed, revision := f.changed, f.revision
	f.mu.Unlock()
	send(fmt.Sprintf(`{"result":{"header":{"revision":"%d"},"created":true}}`, revision))
	for {
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		case <-time.After(50 * time.Millisecond): // leases run out
			f.mu.Lock()
			f.expire()
			f.mu.Unlock()
		}
		f.mu.Lock()
		moved := f.changed != changed
		changed, revision = f.changed, f.revision
		f.mu.Unlock()
		if moved {
			send(fmt.Sprintf(`{"result":{"header":{"revision":"%d"},"events":[{}]}}`, revision))
		}
	}
}
