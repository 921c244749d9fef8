package slurm

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// narrowed returns what options of sacct ask of a job beside what squeue has, too.
func narrowed(c *fronts.Call, set fronts.Set) (only []func(*account) bool, err error) {
	for option, has := range map[string]func(a *account, word string) bool{
		"gid": func(a *account, word string) bool {
			name, number := group(c.People, a.UID)
			return word == name || word == number
		},
		"reason":      func(a *account, word string) bool { return strings.EqualFold(word, reason(a.Job)) },
		"constraints": func(a *account, word string) bool { return slices.Contains(a.Features, word) },
		"wckeys":      func(*account, string) bool { return false }, // no job has one
	} {
		if !set.Has(option) {
			continue
		}
		words := strings.Split(set[option], ",")
		only = append(only, func(a *account) bool {
			return slices.ContainsFunc(words, func(word string) bool { return has(a, word) })
		})
	}
	for option, of := range map[string]func(a *account) int64{
		"ncpus":  func(a *account) int64 { return int64(a.CPUs) },
		"nnodes": func(a *account) int64 { return int64(a.nodeCount()) },
	} {
		if !set.Has(option) {
			continue
		}
		low, high, ranged := strings.Cut(set[option], "-")
		from, failed := strconv.ParseInt(low, 10, 64)
		to := from
		if ranged && failed == nil {
			to, failed = strconv.ParseInt(high, 10, 64)
		}
		if failed != nil {
			return nil, fronts.Failf(1, "sacct: error: --%s: %s is neither N nor MIN-MAX", option,
				fronts.Word(set[option]))
		}
		only = append(only, within(of, from, to))
	}
	if !set.Has("timelimit-min", "timelimit-max") {
		return only, nil
	}
	limits := map[string]int64{"timelimit-min": 0, "timelimit-max": math.MaxInt64}
	for option := range limits {
		if set.Has(option) {
			if limits[option], err = directives.SlurmSeconds(set[option]); err != nil {
				return nil, fronts.Failf(1, "sacct: error: --%s: %v", option, err)
			}
		}
	}
	if !set.Has("timelimit-max") {
		limits["timelimit-max"] = limits["timelimit-min"] // it is the limit, then
	}
	return append(only, within(func(a *account) int64 { return int64(a.Walltime.Seconds()) }, limits["timelimit-min"],
		limits["timelimit-max"])), nil
}

func within(of func(*account) int64, from, to int64) func(*account) bool {
	return func(a *account) bool { return of(a) >= from && of(a) <= to }
}
