package tables

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// counted is a counter and its key: a pool, or what a rule allows at once.
type counted struct {
	*limits.Counter
	key string
}

// eachCounter calls fn for the counters by their keys: the pools, or the rules.
func (c *Catalog) eachCounter(rules bool, fn func(counted) error) error {
	return c.src.Rows.Each(row.Counters, nil, func(key, _ []byte) (bool, error) {
		k, err := c.src.Counter(string(key))
		if err != nil || k.Rule != rules {
			return true, err
		}
		return true, fn(counted{k, string(key)})
	})
}

func poolsTable(c *Catalog, at int64) (tables.Table, error) {
	outside := func(p *counted) int64 { n, _ := p.Outside(at); return n }
	return &listTable[counted]{[]getter[counted]{
		textColumn("name", "name", func(p *counted) string { return p.Name }),
		intColumn("amount", "total amount", func(p *counted) int64 { return p.Total() }),
		intColumn("held", "amount that jobs, plans and reservations hold", func(p *counted) int64 {
			return p.Held(at) - outside(p)
		}),
		intColumn("outside", "amount used outside placectl", outside),
		timeColumn("until", "until when it is used outside; NULL: until you change it", func(p *counted) int64 {
			_, until := p.Outside(at)
			return until
		}),
		intColumn("free", "amount left", func(p *counted) int64 { return max(0, p.Total()-p.Held(at)) }),
	}, func(add func(counted)) error {
		return c.eachCounter(false, func(p counted) error { add(p); return nil })
	}}, nil
}

// holding is a holder's amount of a pool.
type holding struct {
	pool, reservation string
	limits.Holder
}

func poolUseTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[holding]{[]getter[holding]{
		textColumn("pool", "pool name", func(h *holding) string { return h.pool }),
		numberColumn("job", "job that holds it; NULL: a reservation does", func(h *holding) int64 {
			if h.Claim {
				return 0
			}
			return int64(h.Owner >> 1)
		}),
		textColumn("reservation", "reservation that holds it, or that the job's amount belongs to",
			func(h *holding) string { return h.reservation }),
		intColumn("amount", "amount", func(h *holding) int64 { return h.Amount }),
		timeColumn("start", "start", func(h *holding) int64 { return h.Start }),
		timeColumn("end", "planned end", func(h *holding) int64 { return h.End }),
	}, func(add func(holding)) error {
		return c.eachCounter(false, func(p counted) error {
			list := slices.SortedFunc(p.Holders, func(a, b limits.Holder) int {
				return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Owner, b.Owner))
			})
			for _, h := range list {
				one := holding{pool: p.Name, Holder: h}
				of := h.Within
				if h.Claim {
					of = h.Owner
				}
				if _, kept := p.Holder(of); kept {
					var err error
					if one.reservation, err = c.reservation(of >> 1); err != nil {
						return err
					}
				}
				add(one)
			}
			return nil
		})
	}}, nil
}

// limited is a limit as a row: a rule, or the throttle of an array.
type limited struct {
	key, measure string
	who          string
	soft         bool
	max          int64
	used         int64
	planned      int64
	def          index.Def // of the resource that is measured; else of a number
}

func limitColumns() []getter[limited] {
	return []getter[limited]{
		textColumn("key", "what it applies to: user=ann, user=* for each user, array:12 for an array",
			func(l *limited) string { return l.key }),
		textColumn("measure", "what it limits: running, queued, jobs, or an amount of a resource",
			func(l *limited) string { return l.measure }),
		boolColumn("soft", "jobs beyond it are considered after all others", func(l *limited) bool { return l.soft }),
		limitAmount("max", "maximum at a time, sizes in bytes", func(l *limited) int64 { return l.max }),
	}
}

func limitAmount(name, doc string, get func(*limited) int64) getter[limited] {
	return valueColumn(name, doc, values.NumericAffinity, tables.Amount, func(l *limited) values.Value {
		return values.NumericAffinity.Stored(resourceOf(l.def, index.Value{Num: get(l)}, true))
	})
}

// measured returns the definition of the resource that a limit measures.
func (c *Catalog) measured(m limits.Measure) (index.Def, error) {
	defs, err := c.src.Resources()
	if err != nil {
		return index.Def{}, err
	}
	if def, ok := defs.Lookup(m.Resource); ok {
		return def, nil
	}
	return index.Def{Type: index.Long}, nil
}

func limitsTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[limited]{limitColumns(), func(add func(limited)) error {
		err := c.eachCounter(true, func(k counted) error {
			add(limited{key: k.key, measure: "running", def: index.Def{Type: index.Long}, max: k.Total()})
			return nil
		})
		if err != nil {
			return err
		}
		return c.src.Rows.Each(row.Limits, nil, func(key, payload []byte) (bool, error) {
			r, err := row.LimitRow.Decode(key, payload)
			if err == nil {
				var def index.Def
				def, err = c.measured(r.Measure)
				add(limited{key: r.Key.String(), measure: r.Measure.String(), soft: r.Soft, max: r.Max, def: def})
			}
			return true, err
		})
	}}, nil
}

func limitUseTable(c *Catalog, _ int64) (tables.Table, error) {
	columns := limitColumns()
	return &listTable[limited]{[]getter[limited]{columns[0], columns[1], columns[2],
		textColumn("entity", "the user or other entity counted, if the key has *", func(l *limited) string {
			return l.who
		}),
		limitAmount("used", "amount in use now, sizes in bytes", func(l *limited) int64 { return l.used }),
		limitAmount("planned", "amount that planned jobs will add, sizes in bytes", func(l *limited) int64 {
			return l.planned
		}),
		columns[3],
	}, func(add func(limited)) error {
		err := c.eachCounter(true, func(k counted) error {
			used, planned := k.Split()
			add(limited{key: k.key, measure: "running", def: index.Def{Type: index.Long}, max: k.Total(), used: used,
				planned: planned})
			return nil
		})
		if err != nil {
			return err
		}
		uses, err := c.src.LimitUses()
		for _, u := range uses {
			def, err := c.measured(u.Measure)
			if err != nil {
				return err
			}
			add(limited{u.Key.String(), u.Measure.String(), u.Who, u.Soft, u.Max, u.Used, u.Planned, def})
		}
		return err
	}}, nil
}
