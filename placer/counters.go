package placer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/timeline"
)

// Counters are pools and the rules that limit how many jobs run at once. They are decided beside
// the nodes. The earliest start is found by asking counters and nodes in turn, each from the
// other's answer on, until all agree. Each step skips only impossible starts.

// neverCounted returns an error if a request wants more than the whole of a pool, or more than a
// rule allows one job. Otherwise it returns nil.
func (a *Ask) neverCounted() error {
	if a.Barred != "" {
		return &Refusal{Kind: ErrNever, Chunk: -1, Why: a.Barred, Rule: true}
	}
	for _, d := range a.Demands {
		most := d.Most()
		if d.Rule || d.Amount <= most {
			continue
		}
		r := &Refusal{Kind: ErrNever, Chunk: -1, Why: fmt.Sprintf("%s: %d asked, there are %d", d.Name, d.Amount, most)}
		if len(d.Within) > 0 && d.Amount <= d.Total() {
			r.Why = fmt.Sprintf("%s: %d asked, the reservation that it insists on holds %d", d.Name, d.Amount, most)
		}
		return r
	}
	return nil
}

// heldBack returns the refusal of a request whose counters do not allow a start at an instant, or
// nil. It checks rules if rules is true, else pools. The refusal holds until a job gives something
// back, or until the use of a pool outside placectl ends.
func (m *mapping) heldBack(at int64, rules bool) *Refusal {
	d := m.Demands.Short(at, m.Duration, rules)
	if d == nil {
		return nil
	}
	r := &Refusal{Kind: ErrNotNow, Chunk: -1, Why: d.Text(at, m.Duration), Until: math.MaxInt64, Rule: rules}
	if _, until := d.Outside(at); until > 0 {
		r.Until = until
	}
	return r
}

// jointStarts finds the first count starts, from an instant on, at which both the nodes and the
// counters have room.
func (m *mapping) jointStarts(after int64, count int) ([]*Plan, error) {
	var plans []*Plan
	at := max(after, m.Now)
	for {
		start, ok := m.Demands.Next(at, m.Duration)
		if !ok {
			break
		}
		found, err := m.nodeStarts(start, 1)
		if err != nil {
			if len(plans) > 0 && errors.Is(err, ErrNotNow) {
				break
			}
			return nil, m.keptOut(max(after, m.Now), err)
		}
		if at = found[0].Start; at > start {
			if again, ok := m.Demands.Next(at, m.Duration); !ok || again > at {
				continue
			}
		}
		found[0].Demands = m.Demands
		if plans = append(plans, found[0]); len(plans) >= count {
			return plans, nil
		}
		next := m.Demands.NextBack(at)
		for t := range m.Releases(at) {
			next = min(next, t)
			break
		}
		if next == timeline.Forever {
			break
		}
		at = next
	}
	if len(plans) > 0 {
		return plans, nil
	}
	return nil, m.neverFree(at)
}

// neverFree returns the refusal of a request whose counters will never be free for it.
func (m *mapping) neverFree(at int64) *Refusal {
	r := m.heldBack(at, false)
	if r == nil {
		r = m.heldBack(at, true)
	}
	return r
}

// keptOut returns the reason of a request for which the nodes have no room from an instant on at
// which its counters let it start. If they have room before, as in a reservation that ends, the
// counters keep it out: their jobs may end sooner than planned.
func (m *mapping) keptOut(first int64, err error) error {
	if !m.mayMissAll() || !errors.Is(err, ErrNever) {
		return err
	}
	alone, failed := m.nodeStarts(first, 1)
	if failed != nil {
		return err
	}
	if at := alone[0].Start; m.Demands.Short(at, m.Duration, false) != nil ||
		m.Demands.Short(at, m.Duration, true) != nil {
		return m.neverFree(at)
	}
	return err
}

// Pools are amounts that belong to no node, such as licences. A request names an amount of a pool
// once, however many chunks it has.

// MaxPools is the maximum number of pools in a request.
const MaxPools = 8

// PoolAmount is an amount of a pool that a request asks for.
type PoolAmount struct {
	Pool   string
	Amount int64 // at least 1, at most limits.MaxAmount
}

// String returns the amount as requests write it: fluent=2.
func (a PoolAmount) String() string { return a.Pool + "=" + strconv.FormatInt(a.Amount, 10) }

// FormatPools writes a list of pool amounts: fluent=2,matlab=1.
func FormatPools(list []PoolAmount) string {
	if len(list) == 0 {
		return ""
	}
	texts := make([]string, len(list))
	for i, a := range list {
		texts[i] = a.String()
	}
	return strings.Join(texts, ",")
}

// ParsePoolAmount reads a pool amount such as fluent=2.
func ParsePoolAmount(s string) (PoolAmount, error) {
	name, amount, ok := strings.Cut(s, "=")
	if !ok || !index.ValidResourceName(name) {
		return PoolAmount{}, fmt.Errorf("%w: %q is not an amount of a pool: write NAME=AMOUNT, such as fluent=2",
			ErrRequest, s)
	}
	n, err := poolAmount(name, amount)
	return PoolAmount{name, n}, err
}

func poolAmount(name, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > limits.MaxAmount {
		return 0, fmt.Errorf("%w: %s=%s: the amount of a pool is a whole number from 1 to %d", ErrRequest, name, text,
			int64(limits.MaxAmount))
	}
	return n, nil
}

// poolsOf combines the pools of a request's resource list with those beside it. The result is
// sorted by name, each pool once.
func poolsOf(defs *index.Defs, listed, beside []PoolAmount) ([]PoolAmount, error) {
	if len(listed)+len(beside) == 0 {
		return nil, nil
	}
	all := slices.Concat(listed, beside)
	for i, a := range all {
		name, ok := defs.Pool(a.Pool)
		switch {
		case !ok:
			return nil, fmt.Errorf("%w: no pool %q%s", ErrRequest, a.Pool, index.DidYouMean(a.Pool, defs.Pools()))
		case a.Amount < 1 || a.Amount > limits.MaxAmount:
			return nil, fmt.Errorf("%w: %s: the amount of a pool is a whole number from 1 to %d", ErrRequest, a,
				int64(limits.MaxAmount))
		}
		all[i].Pool = name
	}
	slices.SortFunc(all, func(a, b PoolAmount) int { return strings.Compare(a.Pool, b.Pool) })
	for i := range all[1:] {
		if all[i].Pool == all[i+1].Pool {
			return nil, fmt.Errorf("%w: pool %s is asked for twice", ErrRequest, all[i].Pool)
		}
	}
	if len(all) > MaxPools {
		return nil, fmt.Errorf("%w: it asks for %d pools; the maximum is %d", ErrRequest, len(all), MaxPools)
	}
	return all, nil
}
