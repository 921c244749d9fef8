//go:build etcd

package etcd

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"
)

// Places in the line with words share one stream of a driver, which tells which places leave
// the line and what was answered. So an answer needs no request. The stream stays open for a
// while after the last of them, because writes often follow each other.

// streamIdle is how long a stream stays without listeners.
const streamIdle = time.Second

// ear is a stream and its listeners.
type ear struct {
	mu      sync.Mutex
	stop    context.CancelFunc // stops the stream; nil if there is none
	stands  bool               // every change is heard
	hearing map[*hearing]bool
	idle    *time.Timer
}

// hearing is what one place in the line has heard.
type hearing struct {
	ear    *ear
	own    string // the key of its answer
	signal chan struct{}

	mu     sync.Mutex
	heard  heard
	answer []byte
}

// heard is what has happened since the last check.
type heard struct {
	stir
	anew bool             // the stream began after the last check: earlier changes are unknown
	gone map[string]int64 // keys that have left the line, with the revision
}

// listen begins to listen to the line. stands reports whether every change from now on is
// heard. If not yet, the hearing tells once it is.
func (d *driver) listen(answer []byte) (h *hearing, stands bool) {
	e := &d.ear
	h = &hearing{ear: e, own: string(answer), signal: make(chan struct{}, 1),
		heard: heard{stir: stir{member: anyMember}}}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hearing == nil {
		e.hearing = make(map[*hearing]bool)
	}
	e.hearing[h] = true
	if e.stop == nil {
		var ctx context.Context
		ctx, e.stop = context.WithCancel(context.Background())
		go d.hearLine(ctx)
	}
	return h, e.stands
}

// leave ends listening. Without listeners, the stream ends after a while.
func (h *hearing) leave() {
	e := h.ear
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.hearing, h)
	if e.idle == nil {
		e.idle = time.AfterFunc(streamIdle, func() { e.close(false) })
	} else {
		e.idle.Reset(streamIdle)
	}
}

// close ends the stream. If there are listeners, it does so only if anyway is true.
func (e *ear) close(anyway bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stop != nil && (anyway || len(e.hearing) == 0) {
		e.stop()
		e.stop, e.stands = nil, false
	}
}

// hearLine tells all listeners what happens in the line.
func (d *driver) hearLine(ctx context.Context) {
	var body bytes.Buffer
	line, lineEnd := d.keys.line()
	answers := d.keys.key("answer/")
	watches := []watched{{line, lineEnd, []string{notPuts}}, {Key: answers, End: behind(answers)}}
	for _, what := range watches {
		_ = json.NewEncoder(&body).Encode(map[string]any{"create_request": what}) // it cannot fail
	}
	standing := 0
	d.streams(ctx, body.Bytes(), func(member int, m *told) {
		if m == nil { // the stream ended
			standing = 0
		} else if m.Created {
			standing++
		}
		d.ear.tell(ctx, member, m, standing == len(watches))
	})
}

// tell passes a message to all listeners; nil means that the stream has ended.
func (e *ear) tell(ctx context.Context, member int, m *told, stands bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if ctx.Err() != nil {
		return // another stream has replaced this one
	}
	anew := stands && !e.stands
	e.stands = stands
	for h := range e.hearing {
		h.hear(member, m, anew)
	}
}

func (h *hearing) hear(member int, m *told, anew bool) {
	if m == nil || len(m.Events) == 0 && !anew {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.heard.stir = stir{member, max(m.Header.Revision, h.heard.revision)}
	h.heard.anew = h.heard.anew || anew
	for _, e := range m.Events {
		switch {
		case string(e.Pair.Key) == h.own:
			h.answer = e.Pair.Value
		case e.Type == "DELETE":
			if h.heard.gone == nil {
				h.heard.gone = make(map[string]int64)
			}
			h.heard.gone[string(e.Pair.Key)] = e.Pair.Changed
		}
	}
	select {
	case h.signal <- struct{}{}:
	default:
	}
}

// take returns what was heard since its last call, and the answer, or nil.
func (h *hearing) take() (heard, []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.heard
	h.heard = heard{stir: stir{member: anyMember}}
	return was, h.answer
}

// answerLate is how much later an answer may be heard than that its place has left the line.
// Both happen in one step.
const answerLate = 20 * time.Millisecond

// await waits until a place may have its turn, or its words were run. Then it returns the
// answer, if that was heard. The place has seen everything up to a revision.
func (h *hearing) await(ctx context.Context, p *place, before []byte, seen int64) (why stir, answer []byte, err error) {
	patience := time.NewTimer(lookAgain)
	if !p.stands {
		p.stands = true
		patience.Reset(askNext) // usually the stream is up by then
	}
	defer patience.Stop()
	for {
		is, answer := h.take()
		switch {
		case len(answer) > 0:
			return why, answer, nil
		case is.gone[string(p.key)] > p.created:
			patience.Reset(answerLate)
			why = is.stir
		case is.anew && is.revision > seen || is.gone[string(before)] > seen:
			return is.stir, nil, nil
		}
		select {
		case <-ctx.Done():
			return why, nil, ctx.Err()
		case <-h.signal:
		case <-patience.C:
			return why, nil, nil
		}
	}
}
