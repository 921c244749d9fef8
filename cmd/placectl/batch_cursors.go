package main

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func batchCursorsCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:      "cursors",
		Usage:     "the ranges of a batch: how far each is, who works in it, and how long it will take",
		ArgsUsage: "NAME",
		Description: "rules tells which soft rules a team breaks: its fastest host is to be no faster than the others together,\n" +
			"and its hosts are to belong to different users. Finished ranges are left out unless --all asks for them.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "finished ranges too"}},
		Action: r.batchCursors,
	}, about{Example: "placectl batch cursors night-12\nplacectl batch cursors night-12 --all -o csv", Exits: readExits})
}

// team is who works in a range.
type team struct {
	hosts []string
	users map[string]int
	rates []int64
}

func (r *runner) batchCursors(c *cli.Context) error {
	if err := wantArgs(c, 1, 1); err != nil {
		return err
	}
	name := c.Args().First()
	return r.view(func(tx *store.Tx) error {
		b, err := tx.Batch(name)
		if err != nil {
			return err
		}
		p := r.printer(result{Columns: []column{{Name: "first_job", Kind: integer}, {Name: "last_job", Kind: integer}, {Name: "result", Kind: integer},
			{Name: "first_unfinished", Kind: integer}, {Name: "first_ungenerated", Kind: integer}, {Name: "remaining_credit", Kind: number},
			{Name: "expavg_credit", Kind: number}, {Name: "est_time_left", Kind: span}, {Name: "hosts", Kind: list}, {Name: "rules", Kind: list}}})
		teams, err := batchTeams(tx, name)
		if err != nil {
			return err
		}
		err = tx.EachBatchRange(name, func(cur *locality.Cursor) error {
			if cur.Remaining() == 0 && !c.Bool("all") {
				return nil
			}
			return cursorRow(p, b, cur, teams.in(cur))
		})
		if err != nil {
			return err
		}
		return p.close()
	})
}

func cursorRow(p *printer, b *store.Batch, cur *locality.Cursor, t *team) error {
	first, layer := b.JobOf(cur.First)
	last, _ := b.JobOf(cur.Last)
	var result, left any
	if b.Layered && b.Layers > 1 {
		result = layer + 1
	}
	if s := float64(cur.Remaining()) / float64(max(1, cur.Rate())) * locality.Day; cur.Rate() > 0 && s < maxEnd {
		left = int64(s)
	}
	unfinished, ungenerated := last+1, last+1
	if cur.Unfinished <= cur.Last {
		unfinished, _ = b.JobOf(cur.Unfinished)
	}
	if cur.Generated <= cur.Last {
		ungenerated, _ = b.JobOf(cur.Generated)
	}
	return p.row(first, last, result, unfinished, ungenerated, credits(cur.Remaining()), credits(cur.Rate()), left, t.hosts, t.broken())
}

// placed is a host and where it works.
type placed struct {
	at   int
	host *locality.Host
	rate int64
}

// batchPlaces are the hosts of a batch in the order of where they work.
type batchPlaces []placed

func batchTeams(tx *store.Tx, name string) (batchPlaces, error) {
	var all batchPlaces
	err := tx.EachBatchHost(name, func(h *locality.Host, m *locality.Member) error {
		if m.Placed {
			all = append(all, placed{m.At, h, m.Rate})
		}
		return nil
	})
	slices.SortStableFunc(all, func(x, y placed) int { return x.at - y.at })
	return all, err
}

// in is the team of a range.
func (all batchPlaces) in(cur *locality.Cursor) *team {
	t := &team{hosts: []string{}, users: make(map[string]int)}
	from, _ := slices.BinarySearchFunc(all, cur.First, func(p placed, first int) int { return p.at - first })
	for _, p := range all[from:] {
		if p.at > cur.Last {
			break
		}
		t.hosts = append(t.hosts, p.host.Name)
		t.rates = append(t.rates, p.rate)
		if p.host.User != "" {
			t.users[p.host.User]++
		}
	}
	return t
}

// broken lists the soft rules that a team breaks.
func (t *team) broken() []string {
	out := []string{}
	if len(t.rates) > 1 {
		sum, most := int64(0), slices.Max(t.rates)
		for _, n := range t.rates {
			sum += n
		}
		if most > sum-most {
			out = append(out, t.hosts[slices.Index(t.rates, most)]+" is faster than the others together")
		}
	}
	var users []string
	for u, n := range t.users {
		if n > 1 {
			users = append(users, fmt.Sprintf("%d hosts of %s", n, u))
		}
	}
	slices.Sort(users)
	return append(out, users...)
}
