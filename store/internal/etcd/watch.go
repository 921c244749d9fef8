//go:build etcd

package etcd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/placectl/placectl/store/internal/replica"
)

// lookAgain is the interval for checks even if the stream of a watch is silent, because its
// member may hang, or have lost the others.
const lookAgain = 2 * time.Second

// Watch returns when head is not at a position.
func (d *driver) Watch(ctx context.Context, at replica.Position) error {
	return d.watch(ctx, d.keys.head(), func(ctx context.Context, _ stir) (bool, error) {
		var a rangedAnswer
		if err := d.read(ctx, "/v3/kv/range", ranged{Key: d.keys.head()}, &a); err != nil {
			return false, d.explain(err)
		}
		return !bytes.Equal(a.value(), at.Bytes()), nil
	})
}

// stir is a member's notification that a key may have changed by a revision.
type stir struct {
	member   int // anyMember if none has answered
	revision int64
}

// watch calls look whenever the key may have changed, until look returns true or fails, or the
// context ends. It first calls look once the watch is up, so that no change is missed. etcd
// also reports earlier changes since a revision, but up to 100 ms late. look receives the
// reason for the call.
func (g *gateway) watch(ctx context.Context, key []byte, look func(context.Context, stir) (bool, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	body, err := json.Marshal(map[string]any{"create_request": map[string][]byte{"key": key}})
	if err != nil {
		return err
	}
	stirs := make(chan stir, 1)
	go g.streams(ctx, body, func(member int, m *told) {
		select {
		case <-stirs: // drop an older one that was not read
		default:
		}
		stirs <- stir{member, m.Header.Revision}
	})
	tick := time.NewTimer(askNext) // usually the watch is up by then
	defer tick.Stop()
	for {
		why := stir{member: anyMember}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case why = <-stirs:
		case <-tick.C:
		}
		if done, err := look(ctx, why); done || err != nil {
			return err
		}
		tick.Reset(lookAgain)
	}
}

// streams keeps a watch open, at one member after the other, and passes on every message.
func (g *gateway) streams(ctx context.Context, body []byte, say func(member int, m *told)) {
	for m := int(g.best.Load()); ctx.Err() == nil; m++ {
		member := m % len(g.members)
		err := g.stream(ctx, member, body, func(m *told) { say(member, m) })
		if err != nil && ctx.Err() == nil && g.detail != nil {
			g.detail(fmt.Sprintf("etcd: %s: watch: %v", g.members[member], err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(askNext):
		}
	}
}

// told is a message of a member about watched keys.
type told struct {
	Header   revised `json:"header"`
	Created  bool    `json:"created"`
	Canceled bool    `json:"canceled"`
	Reason   string  `json:"cancel_reason"`
}

// stream reads the messages of one member, one a line. The first is that the watch was
// created. A member that does not send it is given up.
func (g *gateway) stream(ctx context.Context, member int, body []byte, say func(*told)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silent := time.AfterFunc(lookAgain, cancel)
	defer silent.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.members[member]+"/v3/watch", bytes.NewReader(body))
	if err != nil {
		return err
	}
	if g.login != nil {
		g.login.sign(req)
	}
	req.Header.Set("Grpc-Metadata-hasleader", "true") // it ends if the member has lost the others
	res, err := g.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return &notEtcd{res.StatusCode, res.Status}
	}
	lines := json.NewDecoder(res.Body)
	for {
		var line struct {
			Error  *refusal `json:"error"`
			Result told     `json:"result"`
		}
		switch err := lines.Decode(&line); {
		case err != nil:
			return err
		case line.Error != nil:
			return line.Error
		case line.Result.Canceled:
			return fmt.Errorf("the watch was ended: %s", line.Result.Reason)
		}
		if err := g.same(line.Result.Header.Cluster); err != nil {
			return err
		}
		silent.Stop()
		say(&line.Result)
	}
}
