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

func limitsTable(c *Catalog, _ int64) (query.Table, error) {
	return &listTable[counted]{[]getter[counted]{
		textColumn("key", "whom it limits: array:12 the jobs of that array", func(k *counted) string { return k.key }),
		textColumn("measure", "what it limits", func(*counted) string { return "running" }),
		intColumn("max", "how many there may be at once", func(k *counted) int64 { return k.Total() }),
		intColumn("used", "how many there are now", func(k *counted) int64 { return k.Held(c.src.Now) }),
		intColumn("planned", "how many more have a planned start", func(k *counted) (n int64) {
			for h := range k.Holders {
				if h.Start > c.src.Now {
					n += h.Amount
				}
			}
			return n
		}),
	}, func(add func(counted)) error {
		return c.eachCounter(true, func(k counted) error { add(k); return nil })
	}}, nil
}
