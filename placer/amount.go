package placer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/limits"
)

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
		return PoolAmount{}, fmt.Errorf("%w: %q is not an amount of a pool: write NAME=AMOUNT, such as fluent=2", ErrRequest, s)
	}
	n, err := poolAmount(name, amount)
	return PoolAmount{name, n}, err
}

func poolAmount(name, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > limits.MaxAmount {
		return 0, fmt.Errorf("%w: %s=%s: the amount of a pool is a whole number from 1 to %d", ErrRequest, name, text, int64(limits.MaxAmount))
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
			return nil, fmt.Errorf("%w: %s: the amount of a pool is a whole number from 1 to %d", ErrRequest, a, int64(limits.MaxAmount))
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
