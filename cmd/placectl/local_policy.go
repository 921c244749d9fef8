package main

import (
	"errors"

	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/cmd/placectl/internal/nouns"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
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
	var program launch.Program
	var candidates []launch.Candidate
	db, err := r.open()
	if err != nil {
		return err
	}
	err = db.View(func(tx *store.Tx) error {
		set, err := tx.Settings()
		if err != nil {
			return err
		}
		program = launch.Program{Words: set.LocalProgram, Timeout: set.LocalTimeout}
		if len(program.Words) == 0 {
			r.notef("policy local: no program is set (placectl config set local_program=...); nodes are taken as declared")
			return nil
		}
		if why := r.distrusts(db); why != "" {
			r.notef("policy local: %s is not run, since %s: PLACECTL_TRUST=1 allows it; nodes are taken as declared", spell.Quoted(program.Words[0]), why)
			return nil
		}
		list, err := tx.Candidates(*q)
		if err != nil {
			return nil //nolint:nilerr // placing says it better
		}
		candidates, err = launchCandidates(tx, list)
		return err
	})
	if err != nil || candidates == nil {
		return err
	}
	names, err := program.Rank(r.ctx, candidates)
	if err != nil {
		r.notef("policy local: %v; nodes are taken as declared", err)
	}
	q.Ranking = append(q.Ranking, names...)
	return r.ctx.Err()
}

// distrusts says why programs that a database names are not run; "" where they may be: a
// file is no program, and who can write it could run what he likes as whoever asks it.
func (r *runner) distrusts(db *store.DB) string {
	if r.getenv("PLACECTL_TRUST") == "1" {
		return ""
	}
	return db.Others()
}

// distrustsOpened is the same of a database that is not open.
func (r *runner) distrustsOpened() string {
	db, err := r.open()
	if err != nil {
		return err.Error()
	}
	defer r.done(db)
	return r.distrusts(db)
}

// launchCandidates are candidates as the program reads them.
func launchCandidates(tx *store.Tx, list []store.Candidate) ([]launch.Candidate, error) {
	defs, err := tx.Resources()
	if err != nil {
		return nil, err
	}
	out := make([]launch.Candidate, len(list))
	for i, c := range list {
		line := launch.Candidate{Name: c.Name, Priority: c.Priority, Speed: c.Speed, Load: c.Load, Features: c.Features, Jobs: c.Jobs,
			Resources: make(map[string]any), Free: make(map[string]int64)}
		for _, a := range c.Res {
			def, ok := defs.Get(a.Res)
			switch {
			case !ok:
			case def.Type.Numeric():
				line.Resources[def.Name] = nouns.Amount(def, a.Value)
			default:
				line.Resources[def.Name] = def.Format(a.Value)
			}
		}
		for _, a := range c.Left {
			if def, ok := defs.Get(a.Res); ok {
				line.Free[def.Name] = nouns.Amount(def, a.Value)
			}
		}
		out[i] = line
	}
	return out, nil
}
