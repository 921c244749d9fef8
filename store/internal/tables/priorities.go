package tables

import (
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/sharing"
)

// number is a priority number set for a subject.
type number struct {
	kind, name string
	n          int64
}

// prioritiesTable returns the values of the terms USER, GROUP, ACCOUNT, CLASS and QUEUE of
// job_priority.
func prioritiesTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[number]{[]getter[number]{
		textColumn("kind", "user, group, account, class or queue", func(n *number) string { return n.kind }),
		textColumn("name", "name of that user, group, account, class or queue", func(n *number) string {
			return n.name
		}),
		intColumn("number", "term that its jobs get", func(n *number) int64 { return n.n }),
	}, func(add func(number)) error {
		return sharing.EachNumber(c.src.Rows, func(kind, name string, n int64) error {
			add(number{kind, name, n})
			return nil
		})
	}}, nil
}

// decayed is a subject's decayed use of a resource.
type decayed struct {
	row.Sharer
	row.DecayedUse
}

// decayedTable lists decayed use, as of now.
func decayedTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[decayed]{[]getter[decayed]{
		textColumn("user", "user", func(d *decayed) string { return d.User }),
		textColumn("account", "account", func(d *decayed) string { return d.Account }),
		textColumn("class", "class", func(d *decayed) string { return d.Class }),
		textColumn("queue", "queue", func(d *decayed) string { return d.Queue }),
		textColumn("group_name", "group", func(d *decayed) string { return d.Group }),
		textColumn("resource", "a consumable resource, a pool, or nodes", func(d *decayed) string {
			return d.DecayedUse.Name
		}),
		realColumn("used", "units x seconds used, halved for each half_life since; sizes in MB",
			func(d *decayed) float64 { return d.Value }),
		realColumn("held", "units in use now", func(d *decayed) float64 {
			return float64(d.Rate) / float64(max(d.One, 1))
		}),
	}, func(add func(decayed)) error {
		halfLife, err := c.src.HalfLife()
		if err != nil {
			return err
		}
		return c.src.Rows.Each(row.Decays, nil, func(key, payload []byte) (bool, error) {
			who, err := row.SplitDecayedKey(key)
			if err != nil {
				return false, err
			}
			x, err := row.DecayedRow.Decode(key, payload)
			if err != nil {
				return false, err
			}
			x.Move(c.src.Now, halfLife)
			for _, u := range x.Uses {
				add(decayed{who, u})
			}
			return true, nil
		})
	}}, nil
}

// term is a part of a job's priority.
type term struct {
	job uint64
	priorityf.Term
}

// termsOf lists the terms that the priority of a waiting job adds up.
func termsOf(c *Catalog) tables.Function {
	return &listFunction[term]{[]getter[term]{
		intColumn("job", "which one", func(t *term) int64 { return int64(t.job) }),
		textColumn("term", "a part of the sum that the setting job_priority is", func(t *term) string {
			return t.Text
		}),
		realColumn("value", "what it comes to now", func(t *term) float64 { return t.Value }),
	}, func(args []values.Value, add func(term)) error {
		id, err := c.jobNumber(args[0], "terms")
		if err != nil || id == 0 {
			return err
		}
		list, err := c.src.Terms(id)
		for _, t := range list {
			add(term{id, t})
		}
		return err
	}}
}
