package place

import (
	"errors"
	"slices"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/urfave/cli/v2"
)

// Reservation declares the verb reservation.
func Reservation() *session.Verb {
	return &session.Verb{
		Name:     "reservation",
		Category: "Placing",
		Usage:    "show reservations",
		Example:  "placectl reservation list",
		Verbs: []*session.Verb{
			{Name: "list", Usage: "list reservations that have not ended", May: engine.Anybody, Access: verbs.Reads,
				InTx:    reservationList,
				Flags:   []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "include those that have ended"}},
				Example: "placectl reservation list"},
			{Name: "show", Usage: "show one reservation", May: engine.Anybody,
				Args: []verbs.Arg{{Name: "NAME", Kind: verbs.KindReservation}}, Access: verbs.Reads,
				InTx:    reservationShow,
				Example: "placectl reservation show maintenance"},
		},
	}
}

func reservationList(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	var all []*engine.Reservation
	err := tx.Reservations().Each(func(res *engine.Reservation) error {
		if c.Bool("all") || res.State(tx.Now()) != "ended" {
			all = append(all, res)
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b *engine.Reservation) int { return a.Start.Compare(b.Start) })
	if err := tx.Reservations().EachStanding(func(s *engine.Standing) error { return sayMissing(r, s) }); err != nil {
		return err
	}
	return printReservations(r, tx, false, all...)
}

func reservationShow(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	res, err := tx.Reservations().Occurrences(c.Args().First())
	if err != nil {
		return err
	}
	s, err := tx.Reservations().Standing(c.Args().First())
	if err == nil {
		err = sayMissing(r, s)
	} else if errors.Is(err, engine.ErrNotFound) {
		err = nil
	}
	return errors.Join(err, printReservations(r, tx, len(res) == 1, res...))
}

// sayMissing lists the occurrences of a standing reservation that cannot be made now.
func sayMissing(r *session.Run, s *engine.Standing) error {
	for _, at := range s.Missing {
		r.Notef("reservation %s has no occurrence at %s yet: %s; placectl keeps trying until it is over", s.Name,
			text.AppendLocal(nil, at.Unix(), r.Loc), s.Note)
	}
	return nil
}

// reservationView is a reservation as answers show it.
type reservationView struct {
	*engine.Reservation
	tx     *engine.Tx
	nodes  []string
	repeat string
	takes  any // amounts kept of each node, nil for whole nodes
	at     func(time.Time) any
}

var reservationFields = output.Fields[*reservationView]{
	{Name: "name", Value: func(v *reservationView) any { return v.Name }},
	{Name: "state", Value: func(v *reservationView) any { return v.State(v.tx.Now()) }},
	{Name: "start", Kind: output.Time, Value: func(v *reservationView) any { return v.at(v.Start) }},
	{Name: "end", Kind: output.Time, Value: func(v *reservationView) any { return v.at(v.End) }},
	{Name: "nodes", Kind: output.List, Nodes: true, Value: func(v *reservationView) any { return v.nodes }},
	{Name: "access", Value: func(v *reservationView) any { return output.OrNil(v.Access.String()) }},
	{Name: "timelimit", Kind: output.Duration, Sparse: true, Value: func(v *reservationView) any {
		return output.OrNil(v.Limit)
	}},
	{Name: "repeat", Sparse: true, Value: func(v *reservationView) any { return output.OrNil(v.repeat) }},
	{Name: "takes", Kind: output.Object, Detail: true, Required: true, Value: func(v *reservationView) any {
		return v.takes
	}},
	{Name: "note", Kind: output.Prose, Sparse: true, Value: func(v *reservationView) any {
		return output.OrNil(v.Note)
	}},
	{Name: "pools", Detail: true, Value: func(v *reservationView) any {
		return output.OrNil(placer.FormatPools(v.Pools))
	}},
}

func viewReservation(tx *engine.Tx, res *engine.Reservation) (*reservationView, error) {
	v := &reservationView{Reservation: res, tx: tx}
	var err error
	if v.nodes, err = tx.Nodes().Names(res.Nodes); err != nil {
		return nil, err
	}
	if v.takes, err = amountsKept(tx, res, v.nodes); err != nil {
		return nil, err
	}
	v.repeat, err = repeatRule(tx, res)
	return v, err
}

// reservedAmounts is what a reservation takes from a node, as JSON shows it.
type reservedAmounts struct {
	Node      string             `json:"node"`
	Resources map[string]float64 `json:"resources"`
}

func printReservations(r *session.Run, tx *engine.Tx, record bool, all ...*engine.Reservation) error {
	p := r.Printer(output.Result{Record: record, Many: true, Columns: reservationFields.Columns()})
	at := func(t time.Time) any { return t }
	if !record && r.Audience().Table {
		at = func(t time.Time) any {
			if t = t.In(r.Loc); t.Year() != tx.Now().In(r.Loc).Year() {
				return t.Format("2006-01-02 15:04")
			}
			return t.Format("Jan _2 15:04")
		}
	}
	for _, res := range all {
		v, err := viewReservation(tx, res)
		if err != nil {
			return err
		}
		v.at = at
		reservationFields.Print(p, v)
	}
	return p.Close()
}

// repeatRule returns the rule by which a reservation repeats. It is "" if it occurs only once, or
// has just been removed.
func repeatRule(tx *engine.Tx, res *engine.Reservation) (string, error) {
	if res.Series == "" {
		return "", nil
	}
	s, err := tx.Reservations().Standing(res.Series)
	if errors.Is(err, engine.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return s.Repeat.Rule, nil
}

func amountsKept(tx *engine.Tx, res *engine.Reservation, names []string) (any, error) {
	if res.Uses == nil {
		return nil, nil // whole nodes
	}
	defs, err := tx.Config().Resources()
	if err != nil {
		return nil, err
	}
	out := make([]reservedAmounts, len(names))
	for i, use := range res.Uses {
		out[i] = reservedAmounts{names[i], make(map[string]float64)}
		for _, a := range use.Amounts {
			if def, ok := defs.Get(index.ResID(a.Quantity)); ok {
				out[i].Resources[def.Name] = def.Units(index.Value{Num: a.N})
			}
		}
	}
	return out, nil
}

// Unreserve declares the verb unreserve.
func Unreserve() *session.Verb {
	return &session.Verb{
		Name:     "unreserve",
		Category: "Placing",
		Usage:    "delete a reservation and free its nodes",
		May:      engine.Operators,
		Args:     []verbs.Arg{{Name: "NAME", Kind: verbs.KindReservation}},
		Access:   verbs.Writes,
		Example:  "placectl unreserve maintenance",
		InTx:     unreserve,
	}
}

func unreserve(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	gone, err := tx.Reservations().Remove(c.Args().First())
	if err != nil {
		return err
	}
	return printReservations(r, tx, len(gone) == 1, gone...)
}
