package main

import (
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// Jobs are named by their numbers: 12, or 12-15 for several. Those of an array are
// also 12[] for all and 12[3], 12[0-4] for some, where 12 is the array's first job.

// maxJobRange bounds how many jobs a range names.
const maxJobRange = 1_000_000

// jobsNamed are the numbers of the jobs that a word names.
func jobsNamed(tx *store.Tx, word string) ([]uint64, error) {
	head, tail, inArray := strings.Cut(word, "[")
	first, last, ok := numberRange(head)
	switch {
	case ok && !inArray:
		return sequence(first, last), nil
	case !ok || first != last || !strings.HasSuffix(tail, "]"):
		return nil, usagef("%s is not a job number (12), a range of them (12-15), nor of an array (12[], 12[3])", spell.Quoted(word))
	}
	jobs, err := tx.ArrayJobs(first)
	if err != nil {
		return nil, err
	}
	least, most := uint64(jobs[0].Index), uint64(jobs[len(jobs)-1].Index)
	from, to := least, most
	if tail = strings.TrimSuffix(tail, "]"); tail != "" {
		if from, to, ok = indexRange(tail); !ok || from < least || to > most {
			return nil, usagef("%s: array %d has indices %d to %d", spell.Quoted(word), first, least, most)
		}
	}
	var ids []uint64
	for _, j := range jobs {
		if i := uint64(j.Index); from <= i && i <= to {
			ids = append(ids, j.ID)
		}
	}
	if len(ids) == 0 {
		return nil, usagef("%s: array %d has no such index between %d and %d", spell.Quoted(word), first, least, most)
	}
	return ids, nil
}

// numberRange reads 12 or 12-15.
func numberRange(s string) (first, last uint64, ok bool) {
	first, last, ok = indexRange(s)
	return first, last, ok && first > 0
}

func indexRange(s string) (first, last uint64, ok bool) {
	a, b, isRange := strings.Cut(s, "-")
	if !isRange {
		b = a
	}
	first, err1 := strconv.ParseUint(a, 10, 63)
	last, err2 := strconv.ParseUint(b, 10, 63)
	return first, last, err1 == nil && err2 == nil && first <= last && last-first < maxJobRange
}

func sequence(first, last uint64) []uint64 {
	out := make([]uint64, 0, last-first+1)
	for id := first; id <= last; id++ {
		out = append(out, id)
	}
	return out
}

// eachJobNamed calls fn for every job that the arguments name, each once, and says
// whether one word has named several: an array, or a range.
func eachJobNamed(tx *store.Tx, c *cli.Context, fn func(j *store.Job, several bool) error) error {
	seen := make(map[uint64]bool)
	for _, word := range c.Args().Slice() {
		ids, err := jobsNamed(tx, word)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if seen[id] {
				continue
			}
			seen[id] = true
			j, err := tx.Job(id)
			if err != nil {
				return err
			}
			if err := fn(j, len(ids) > 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// changeJobs changes every job that the arguments name, in one transaction, and
// prints what they are then. Of an array, or a range, those that have ended are passed
// over: the others are what is left of it.
func (r *runner) changeJobs(c *cli.Context, change func(*store.Tx, uint64) (*store.Job, error)) error {
	return r.update(c, func(tx *store.Tx) error {
		p := r.jobs(tx, false, "job state start end nodes reason*")
		err := eachJobNamed(tx, c, func(j *store.Job, several bool) error {
			if several && !j.State.Live() {
				return nil
			}
			j, err := change(tx, j.ID)
			if err != nil {
				return err
			}
			return p.Print(j)
		})
		if err != nil {
			return err
		}
		return p.Close()
	})
}

// theJob is the one job that a word names.
func theJob(tx *store.Tx, word string) (uint64, error) {
	ids, err := jobsNamed(tx, word)
	if err == nil && len(ids) != 1 {
		err = usagef("%s names %d jobs; name one", spell.Quoted(word), len(ids))
	}
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}
