package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
)

// The policy local is the site's own program. It is run between looking at the
// database and changing it, so nobody waits for it; what it says is an order of
// names, and the placement is decided, and verified, afterwards. Whatever goes
// wrong with it costs its order, not the placement.

// errWantsOrder stops a transaction that has met the policy local: the program is
// run first.
var errWantsOrder = errors.New("the policy local has not been asked")

// ordered runs fn, which must call asksOrder when it has a transaction; if the
// request's policy turns out to be local, the site's program is run and fn again.
func (r *runner) ordered(q *placer.Request, fn func() error) error {
	err := fn()
	if !errors.Is(err, errWantsOrder) {
		return err
	}
	if err := r.localOrder(q); err != nil {
		return err
	}
	return fn()
}

// asksOrder is errWantsOrder for a request that needs the site's program, which was
// not run.
func asksOrder(tx *store.Tx, q *placer.Request) error {
	if q.Ranking != nil {
		return nil
	}
	policy, err := tx.Policy(*q)
	if err == nil && policy == placer.Local {
		err = errWantsOrder
	}
	return err
}

// localOrder runs the site's program and notes the order of nodes that it wants.
func (r *runner) localOrder(q *placer.Request) error {
	q.Ranking = []string{}
	var program []string
	var timeout time.Duration
	var candidates []byte
	db, err := r.open()
	if err != nil {
		return err
	}
	err = db.View(func(tx *store.Tx) error {
		set, err := tx.Settings()
		if err != nil {
			return err
		}
		if program, timeout = set.LocalProgram, time.Duration(set.LocalTimeout)*time.Second; len(program) == 0 {
			r.notef("policy local: no program is set (placectl config set local_program=...); nodes are taken as declared")
			return nil
		}
		list, err := tx.Candidates(*q)
		if err != nil {
			return nil //nolint:nilerr // placing says it better
		}
		candidates, err = candidateLines(tx, list)
		return err
	})
	if err != nil || candidates == nil {
		return err
	}
	names, err := r.runLocal(program, timeout, candidates)
	if err != nil {
		r.notef("policy local: %v; nodes are taken as declared", err)
	}
	q.Ranking = append(q.Ranking, names...)
	return r.ctx.Err()
}

// runLocal runs the program on the candidates and reads the names it writes, one a
// line. All of them must be candidates.
func (r *runner) runLocal(program []string, timeout time.Duration, candidates []byte) ([]string, error) {
	ctx, cancel := context.WithTimeout(r.ctx, timeout)
	defer cancel()
	var out, complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, program[0], program[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(candidates), &out, &complaint
	cmd.WaitDelay = time.Second // its children may hold the pipes open
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil && r.ctx.Err() == nil {
			return nil, fmt.Errorf("%s took longer than %s", program[0], timeout)
		}
		return nil, fmt.Errorf("%s: %w%s", program[0], err, lastLine(complaint.String()))
	}
	known := make(map[string]bool)
	for line := range bytes.Lines(candidates) {
		var n struct{ Name string }
		if err := json.Unmarshal(line, &n); err != nil {
			return nil, err
		}
		known[n.Name] = true
	}
	names := []string{}
	for line := range strings.Lines(out.String()) {
		name := strings.TrimSpace(line)
		switch {
		case name == "":
		case !known[name]:
			return nil, fmt.Errorf("%s named %q, which is not one of the %d candidates", program[0], name, len(known))
		default:
			names = append(names, name)
		}
	}
	return names, nil
}

// lastLine is the end of what a program complained about, for a message.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	if text == "" {
		return ""
	}
	return ": " + text
}

// candidateLines writes candidates as JSON lines.
func candidateLines(tx *store.Tx, list []store.Candidate) ([]byte, error) {
	defs, err := tx.Resources()
	if err != nil {
		return nil, err
	}
	type candidate struct {
		Name      string           `json:"name"`
		Priority  int32            `json:"priority"`
		Speed     float64          `json:"speed,omitempty"`
		Load      float64          `json:"load,omitempty"`
		Features  []string         `json:"features,omitempty"`
		Jobs      int              `json:"jobs"`
		Resources map[string]any   `json:"resources"`
		Free      map[string]int64 `json:"free"`
	}
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	for _, c := range list {
		line := candidate{c.Name, c.Priority, c.Speed, c.Load, c.Features, c.Jobs, make(map[string]any), make(map[string]int64)}
		for _, a := range c.Res {
			def, ok := defs.Get(a.Res)
			switch {
			case !ok:
			case def.Type.Numeric():
				line.Resources[def.Name] = machineAmount(def, a.Value)
			default:
				line.Resources[def.Name] = def.Format(a.Value)
			}
		}
		for _, a := range c.Left {
			if def, ok := defs.Get(a.Res); ok {
				line.Free[def.Name] = machineAmount(def, a.Value)
			}
		}
		if err := out.Encode(line); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
