// Package jobref reads how jobs are named: by their numbers, 12, or 12-15 for several. Those
// of an array are also 12[] for all and 12[3], 12[0-4] for some, where 12 is the array's
// first job.
package jobref

import (
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
)

// maxJobRange bounds how many jobs a range names.
const maxJobRange = 1_000_000

// Arrays finds the jobs of an array, in the order of their indices, by its number.
type Arrays interface {
	ArrayJobs(array uint64) ([]*store.Job, error)
}

// Named are the numbers of the jobs that a word names.
func Named(in Arrays, word string) ([]uint64, error) {
	head, tail, inArray := strings.Cut(word, "[")
	first, last, ok := numberRange(head)
	switch {
	case ok && !inArray:
		return sequence(first, last), nil
	case !ok || first != last || !strings.HasSuffix(tail, "]"):
		return nil, usage.Errorf("%s is not a job number (12), a range of them (12-15), nor of an array (12[], 12[3])", text.Quoted(word))
	}
	jobs, err := in.ArrayJobs(first)
	if err != nil {
		return nil, err
	}
	least, most := uint64(jobs[0].Index), uint64(jobs[len(jobs)-1].Index)
	from, to := least, most
	if tail = strings.TrimSuffix(tail, "]"); tail != "" {
		if from, to, ok = indexRange(tail); !ok || from < least || to > most {
			return nil, usage.Errorf("%s: array %d has indices %d to %d", text.Quoted(word), first, least, most)
		}
	}
	var ids []uint64
	for _, j := range jobs {
		if i := uint64(j.Index); from <= i && i <= to {
			ids = append(ids, j.ID)
		}
	}
	if len(ids) == 0 {
		return nil, usage.Errorf("%s: array %d has no such index between %d and %d", text.Quoted(word), first, least, most)
	}
	return ids, nil
}

// Array is the number of the array that a word names whole: 12[], or 12.
func Array(in Arrays, word string) (uint64, error) {
	head, _ := strings.CutSuffix(word, "[]")
	first, last, ok := numberRange(head)
	if !ok || first != last {
		return 0, usage.Errorf("%s is not an array of jobs (12[])", text.Quoted(word))
	}
	if _, err := in.ArrayJobs(first); err != nil {
		return 0, err
	}
	return first, nil
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

// One is the one job that a word names.
func One(in Arrays, word string) (uint64, error) {
	ids, err := Named(in, word)
	if err == nil && len(ids) != 1 {
		err = usage.Errorf("%s names %d jobs; name one", text.Quoted(word), len(ids))
	}
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}
