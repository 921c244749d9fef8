// Package jobref parses references to jobs: a number such as 12, or 12-15 for several. Jobs of an array
// are also 12[] for all and 12[3], 12[0-4,7] for some, where 12 is the array's first job. A job name stands
// for the one live job or array with that name, or else for the one that ended last.
package jobref

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
)

// maxJobRange bounds the number of jobs in a range.
const maxJobRange = 1_000_000

// Jobs finds jobs.
type Jobs interface {
	Array(array uint64) ([]*store.Job, error) // sorted by index
	Named(name string) ([]*store.Job, error)
}

// Named returns the numbers of the jobs that a word names.
func Named(in Jobs, word string) ([]uint64, error) {
	head, tail, inArray := strings.Cut(word, "[")
	first, last, ok := numberRange(head)
	switch {
	case inArray && !strings.HasSuffix(tail, "]"), ok && inArray && first != last:
		return nil, malformed(word)
	case ok && !inArray:
		return sequence(first, last), nil
	case ok:
		jobs, err := in.Array(first)
		if err != nil {
			return nil, err
		}
		return elements(word, jobs, strings.TrimSuffix(tail, "]"))
	}
	jobs, err := titled(in, word, head)
	switch {
	case err != nil:
		return nil, err
	case inArray && jobs[0].Array == 0:
		return nil, usage.Errorf("%s: job %d is not an array", text.Quoted(word), jobs[0].ID)
	case inArray:
		return elements(word, jobs, strings.TrimSuffix(tail, "]"))
	}
	ids := make([]uint64, len(jobs))
	for i, j := range jobs {
		ids[i] = j.ID
	}
	return ids, nil
}

// titled returns the jobs with a name: one job, or those of one array.
func titled(in Jobs, word, name string) ([]*store.Job, error) {
	if name == "" {
		return nil, malformed(word)
	}
	jobs, err := in.Named(name)
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		if c := name[0]; c >= '0' && c <= '9' || c == '-' {
			return nil, malformed(word)
		}
		return nil, fmt.Errorf("%w: no job has the name %s", store.ErrNotFound, text.Quoted(name))
	}
	var numbers []string
	for i, j := range jobs {
		if i == 0 || j.Array == 0 || j.Array != jobs[i-1].Array {
			numbers = append(numbers, strconv.FormatUint(j.ID, 10))
		}
	}
	if len(numbers) > 1 {
		most := min(len(numbers), 5)
		more := ""
		if len(numbers) > most {
			more = ", ..."
		}
		return nil, usage.Errorf("%d jobs have the name %s: %s%s; give a number", len(numbers), text.Quoted(name), strings.Join(numbers[:most], ", "), more)
	}
	if a := jobs[0].Array; a != 0 { // its ended elements belong to the array, too
		return in.Array(a)
	}
	return jobs, nil
}

func malformed(word string) error {
	return usage.Errorf("%s is not a job number (12), a range of them (12-15), of an array (12[], 12[3]), nor a job's name", text.Quoted(word))
}

// elements returns the numbers of an array's jobs with some indices: 3, 0-4 or a list of both, "" for
// all.
func elements(word string, jobs []*store.Job, indices string) (ids []uint64, err error) {
	least, most := uint64(jobs[0].Index), uint64(jobs[len(jobs)-1].Index)
	for part := range strings.SplitSeq(indices, ",") {
		from, to, ok := least, most, true
		if indices != "" {
			if from, to, ok = indexRange(part); !ok || from < least || to > most {
				return nil, usage.Errorf("%s: array %d has indices %d to %d", text.Quoted(word), jobs[0].Array, least, most)
			}
		}
		had := len(ids)
		for _, j := range jobs {
			if i := uint64(j.Index); from <= i && i <= to {
				ids = append(ids, j.ID)
			}
		}
		if len(ids) == had {
			return nil, usage.Errorf("%s: array %d has no such index between %d and %d", text.Quoted(word), jobs[0].Array, least, most)
		}
	}
	return ids, nil
}

// Array returns the number of the array that a word names as a whole: 12[], 12, or its name.
func Array(in Jobs, word string) (uint64, error) {
	head, _ := strings.CutSuffix(word, "[]")
	first, last, ok := numberRange(head)
	if !ok {
		jobs, err := titled(in, word, head)
		if err != nil {
			return 0, err
		}
		if first, last, ok = jobs[0].Array, jobs[0].Array, jobs[0].Array != 0; !ok {
			return 0, usage.Errorf("%s: job %d is not an array", text.Quoted(word), jobs[0].ID)
		}
	}
	if first != last {
		return 0, usage.Errorf("%s is not an array of jobs (12[])", text.Quoted(word))
	}
	if _, err := in.Array(first); err != nil {
		return 0, err
	}
	return first, nil
}

// numberRange parses 12 or 12-15.
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

// One returns the single job that a word names.
func One(in Jobs, word string) (uint64, error) {
	ids, err := Named(in, word)
	if err == nil && len(ids) != 1 {
		err = usage.Errorf("%s names %d jobs; name one", text.Quoted(word), len(ids))
	}
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}
