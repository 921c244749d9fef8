// Package localorder asks the site's own program, the policy local, in which order to take nodes.
// The program runs between reading the database and changing it, so it blocks no one. It returns an
// order of names; the placement is decided and verified afterwards. If the program fails, its order
// is lost, not the placement.
package localorder

import (
	"context"
	"errors"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
)

// errWanted stops a transaction that needs the policy local, so that its program runs first.
var errWanted = errors.New("the policy local has not been asked")

// Asker runs the program of a database.
type Asker struct {
	Open      func() (*engine.DB, error)
	Distrusts func(*engine.DB) string // why its programs must not run, "" if they may
	Note      func(format string, args ...any)
}

// Ordered runs fn, which must call Wanted once it has a transaction. If the request's policy is local,
// Ordered runs the site's program and then fn again.
func (a *Asker) Ordered(ctx context.Context, q *placer.Request, fn func() error) error {
	err := fn()
	if !errors.Is(err, errWanted) {
		return err
	}
	if err := a.ask(ctx, q); err != nil {
		return err
	}
	return fn()
}

// Wanted returns an error if a request needs the site's program and that has not run.
func Wanted(tx *engine.Tx, q *placer.Request) error {
	if q.Ranking != nil {
		return nil
	}
	policy, err := tx.Ask().Policy(*q)
	if err == nil && policy == placer.Local {
		err = errWanted
	}
	return err
}

// ask runs the site's program and stores its order of nodes in the request.
func (a *Asker) ask(ctx context.Context, q *placer.Request) error {
	q.Ranking = []string{}
	var program launch.Program
	var candidates []launch.Candidate
	db, err := a.Open()
	if err != nil {
		return err
	}
	err = db.View(func(tx *engine.Tx) error {
		set, err := tx.Config().Settings()
		if err != nil {
			return err
		}
		program = launch.Program{Words: set.LocalProgram, Timeout: set.LocalTimeout}
		if len(program.Words) == 0 {
			a.Note("policy local: no program is set (placectl config set local_program=...); nodes are taken " +
				"as declared")
			return nil
		}
		if why := a.Distrusts(db); why != "" {
			a.Note("policy local: %s is not run, since %s: PLACECTL_TRUST=1 allows it; nodes are taken as declared",
				text.Quoted(program.Words[0]), why)
			return nil
		}
		if why, err := tx.Copy(); err != nil || why != "" {
			a.Note("policy local: %s is not run, since %s; nodes are taken as declared", text.Quoted(program.Words[0]),
				why)
			return err
		}
		list, err := tx.Ask().Candidates(*q)
		if err != nil {
			return nil //nolint:nilerr // placing gives a better error
		}
		candidates, err = described(tx, list)
		return err
	})
	if err != nil || candidates == nil {
		return err
	}
	names, err := program.Rank(ctx, candidates)
	if err != nil {
		a.Note("policy local: %v; nodes are taken as declared", err)
	}
	q.Ranking = append(q.Ranking, names...)
	return ctx.Err()
}

// described converts candidates for the program.
func described(tx *engine.Tx, list []engine.Candidate) ([]launch.Candidate, error) {
	defs, err := tx.Config().Resources()
	if err != nil {
		return nil, err
	}
	out := make([]launch.Candidate, len(list))
	for i, c := range list {
		line := launch.Candidate{Name: c.Name, Priority: c.Priority, Speed: c.Speed, Load: c.Load, Features: c.Features,
			Jobs:      c.Jobs,
			Resources: make(map[string]any), Free: make(map[string]float64)}
		for _, a := range c.Res {
			def, ok := defs.Get(a.Res)
			switch {
			case !ok:
			case def.Type.Numeric():
				line.Resources[def.Name] = def.Units(a.Value)
			default:
				line.Resources[def.Name] = def.Format(a.Value)
			}
		}
		for _, a := range c.Left {
			if def, ok := defs.Get(a.Res); ok {
				line.Free[def.Name] = def.Units(a.Value)
			}
		}
		out[i] = line
	}
	return out, nil
}
