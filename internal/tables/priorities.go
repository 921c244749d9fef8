package tables

import (
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/placer/subject"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// prioritiesTable returns the values of the terms USER, GROUP, ACCOUNT, CLASS and QUEUE of
// job_priority.
func prioritiesTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[users.Number]{[]getter[users.Number]{
		textColumn("kind", "user, group, account, class or queue", func(n *users.Number) string {
			return n.Kind.String()
		}),
		textColumn("name", "name of that user, group, account, class or queue", func(n *users.Number) string {
			return n.Name
		}),
		intColumn("number", "term that its jobs get", func(n *users.Number) int64 { return n.Number }),
	}, func(add func(users.Number)) error {
		return users.EachNumber(c.src.Rows, func(n users.Number) error {
			add(n)
			return nil
		})
	}}, nil
}

// decayed is a subject's decayed use of a resource.
type decayed struct {
	subject.Names
	row.DecayedUse
}

// decayedTable lists decayed use, as of now.
func decayedTable(c *Catalog, _ int64) (tables.Table, error) {
	columns := whoseColumns(func(d *decayed) *subject.Names { return &d.Names })
	return &listTable[decayed]{append(columns,
		textColumn("group_name", "group", func(d *decayed) string { return d.Names[subject.Group] }),
		textColumn("resource", "a consumable resource, a pool, or nodes", func(d *decayed) string {
			return d.DecayedUse.Name
		}),
		realColumn("used", "units x seconds used, halved for each half_life since; sizes in MB",
			func(d *decayed) float64 { return d.Value }),
		realColumn("held", "units in use now", func(d *decayed) float64 {
			return float64(d.Rate) / float64(max(d.One, 1))
		}),
	), func(add func(decayed)) error {
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
