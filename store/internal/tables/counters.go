package tables

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/store/internal/row"
)

// counted is a counter, a pool or what a rule lets run at once, and its key.
type counted struct {
	*limits.Counter
	key string
}

// eachCounter goes through the counters by their keys: the pools, or the rules.
func (c *Catalog) eachCounter(rules bool, fn func(counted) error) error {
	return c.src.Rows.Each(row.Counters, nil, func(key, _ []byte) (bool, error) {
		k, err := c.src.Counter(string(key))
		if err != nil || k.Rule != rules {
			return true, err
		}
		return true, fn(counted{k, string(key)})
	})
}

func poolsTable(c *Catalog, at int64) (query.Table, error) {
	outside := func(p *counted) int64 { n, _ := p.Outside(at); return n }
	return &listTable[counted]{[]getter[counted]{
		textColumn("name", "what requests call it", func(p *counted) string { return p.Name }),
		intColumn("amount", "how much of it there is", func(p *counted) int64 { return p.Total() }),
		intColumn("held", "what jobs, planned ones and reservations hold then", func(p *counted) int64 { return p.Held(at) - outside(p) }),
		intColumn("outside", "what others use then", outside),
		timeColumn("until", "until when they do; NULL: until somebody says otherwise", func(p *counted) int64 { _, until := p.Outside(at); return until }),
		intColumn("free", "what is left then", func(p *counted) int64 { return max(0, p.Total()-p.Held(at)) }),
	}, func(add func(counted)) error {
		return c.eachCounter(false, func(p counted) error { add(p); return nil })
	}}, nil
}

// holding is what somebody holds of a pool.
type holding struct {
	pool, reservation string
	limits.Holder
}

func poolUseTable(c *Catalog, _ int64) (query.Table, error) {
	return &listTable[holding]{[]getter[holding]{
		textColumn("pool", "its name", func(h *holding) string { return h.pool }),
		numberColumn("job", "who holds some of it; NULL for a reservation", func(h *holding) int64 {
			if h.Claim {
				return 0
			}
			return int64(h.Owner >> 1)
		}),
		textColumn("reservation", "who holds some of it, or whose the job's amount is part of", func(h *holding) string { return h.reservation }),
		intColumn("amount", "how much", func(h *holding) int64 { return h.Amount }),
		timeColumn("start", "from then", func(h *holding) int64 { return h.Start }),
		timeColumn("end", "until then, as it was planned", func(h *holding) int64 { return h.End }),
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
}

func limitColumns() []getter[limited] {
	return []getter[limited]{
		textColumn("key", "whom it limits: user:ann, or user:* for each; array:12 the jobs of that array", func(l *limited) string { return l.key }),
		textColumn("measure", "what it limits: running, queued, jobs, or some of a resource", func(l *limited) string { return l.measure }),
		boolColumn("soft", "who is beyond it has his turn after all others", func(l *limited) bool { return l.soft }),
		intColumn("max", "how much there may be at once, in the resource's smallest unit", func(l *limited) int64 { return l.max }),
	}
}

func limitsTable(c *Catalog, _ int64) (query.Table, error) {
	return &listTable[limited]{limitColumns(), func(add func(limited)) error {
		err := c.eachCounter(true, func(k counted) error { add(limited{key: k.key, measure: "running", max: k.Total()}); return nil })
		if err != nil {
			return err
		}
		return c.src.Rows.Each(row.Limits, nil, func(key, payload []byte) (bool, error) {
			r, err := row.DecodeLimit(key, payload)
			if err == nil {
				add(limited{key: r.Key.String(), measure: r.Measure.String(), soft: r.Soft, max: r.Max})
			}
			return true, err
		})
	}}, nil
}

func limitUseTable(c *Catalog, _ int64) (query.Table, error) {
	columns := limitColumns()
	return &listTable[limited]{[]getter[limited]{columns[0], columns[1], columns[2],
		textColumn("entity", "whom it is counted for, where the key says *", func(l *limited) string { return l.who }),
		intColumn("used", "how much jobs have now that run, or wait, as the measure says", func(l *limited) int64 { return l.used }),
		intColumn("planned", "how much more those are to have that have a planned start", func(l *limited) int64 { return l.planned }),
		columns[3],
	}, func(add func(limited)) error {
		err := c.eachCounter(true, func(k counted) error {
			used, planned := k.Split()
			add(limited{key: k.key, measure: "running", max: k.Total(), used: used, planned: planned})
			return nil
		})
		if err != nil {
			return err
		}
		uses, err := c.src.LimitUses()
		for _, u := range uses {
			add(limited{u.Key.String(), u.Measure.String(), u.Who, u.Soft, u.Max, u.Used, u.Planned})
		}
		return err
	}}, nil
}
