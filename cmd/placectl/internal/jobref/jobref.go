// Package jobref parses references to jobs: the number of a job or an array such as 12, or 12-15 for
// several jobs. Jobs of array 12 are also 12[3], or 12[0-4,7] for several; 12[] is the array. A name
// stands for the caller's live jobs and arrays with that name, or else for those that had not ended when
// the last of them was submitted. If the jobs of an array have several names, each stands for its own.
package jobref

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// maxJobRange bounds the number of jobs in a range.
const maxJobRange = 1_000_000

// Jobs finds jobs.
type Jobs interface {
	Get(id uint64) (*engine.Job, error)
	IsArray(number uint64) (bool, error)
	Array(array uint64) ([]*engine.Job, error) // sorted by index
	Named(name string, past bool) ([]*engine.Job, error)
}

// Names finds what words name.
type Names struct {
	In      Jobs
	Self    string // the calling user
	Several bool   // a name may stand for several live jobs of that user
	Past    bool   // a name stands for ended jobs, too, if live ones have it

	Own func(name string) ([]*engine.Job, error) // the jobs of this transaction with a name; nil for none
}

// Target is a job, or an array as a whole.
type Target struct {
	Number uint64
	Array  bool
}

func (t Target) String() string { return strconv.FormatUint(t.Number, 10) }

// Targets returns the jobs and arrays that a word names.
func (n Names) Targets(word string) ([]Target, error) {
	head, tail, inArray := strings.Cut(word, "[")
	indices, closed := strings.CutSuffix(tail, "]")
	first, last, ok := numberRange(head)
	switch {
	case inArray && !closed, ok && inArray && first != last:
		return nil, malformed(word)
	case ok && !inArray && first != last:
		return n.sequence(word, first, last)
	case ok && !inArray:
		is, err := n.In.IsArray(first)
		return []Target{{first, is}}, err
	case ok:
		return n.elements(word, first, indices)
	}
	found, err := n.titled(word, head)
	switch {
	case err != nil || !inArray:
		return found, err
	case len(found) > 1:
		return nil, ambiguous(head, found)
	case !found[0].Array:
		return nil, usage.Errorf("%s: job %v is not an array", text.Quoted(word), found[0])
	}
	return n.elements(word, found[0].Number, indices)
}

// titled returns the jobs and arrays with a name.
func (n Names) titled(word, name string) ([]Target, error) {
	if name == "" {
		return nil, malformed(word)
	}
	jobs, err := n.named(name)
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		if c := name[0]; c >= '0' && c <= '9' || c == '-' {
			return nil, malformed(word)
		}
		return nil, fmt.Errorf("%w: no job has the name %s", engine.ErrNotFound, text.Quoted(name))
	}
	mine := slices.DeleteFunc(slices.Clone(jobs), func(j *engine.Job) bool { return j.User != n.Self })
	if len(mine) > 0 {
		jobs = mine
	}
	found, err := n.whole(jobs)
	if err != nil || len(found) == 1 || len(mine) > 0 && n.Several {
		return found, err
	}
	return nil, ambiguous(name, found)
}

// whole returns jobs of one name by number, with an array instead of its jobs if all of it has the name, and with Past
// is given.
func (n Names) whole(jobs []*engine.Job) (found []Target, err error) {
	given := make(map[uint64]bool, len(jobs))
	for _, j := range jobs {
		given[j.ID] = true
	}
	for _, t := range Whole(jobs) {
		var all []*engine.Job
		if t.Array {
			if all, err = n.In.Array(t.Number); err != nil {
				return nil, err
			}
		}
		other := func(j *engine.Job) bool { return j.Name != jobs[0].Name || n.Past && !given[j.ID] }
		if !slices.ContainsFunc(all, other) {
			found = append(found, t)
			continue
		}
		for _, j := range all {
			if given[j.ID] {
				found = append(found, Target{Number: j.ID})
			}
		}
	}
	return found, nil
}

// named returns the jobs with a name: those of this transaction before all others.
func (n Names) named(name string) ([]*engine.Job, error) {
	if n.Own != nil {
		if own, err := n.Own(name); len(own) > 0 || err != nil {
			return own, err
		}
	}
	return n.In.Named(name, n.Past)
}

// Whole returns jobs by number, with an array instead of its jobs.
func Whole(jobs []*engine.Job) []Target {
	found := make([]Target, 0, len(jobs))
	for _, j := range jobs {
		found = append(found, Target{cmp.Or(j.Array, j.ID), j.Array != 0})
	}
	slices.SortFunc(found, func(a, b Target) int { return cmp.Compare(a.Number, b.Number) })
	return slices.Compact(found)
}

func ambiguous(name string, found []Target) error {
	var numbers []string
	for _, t := range found[:min(len(found), 5)] {
		numbers = append(numbers, t.String())
	}
	if len(found) > len(numbers) {
		numbers = append(numbers, "...")
	}
	return usage.Errorf("%d jobs have the name %s: %s; give a number", len(found), text.Quoted(name),
		strings.Join(numbers, ", "))
}

// IsName reports whether a word is a name, and no number, range, or part of an array.
func IsName(word string) bool {
	head, _, inArray := strings.Cut(word, "[")
	_, _, number := numberRange(head)
	return !number && !inArray
}

func malformed(word string) error {
	return usage.Errorf("%s is not the number of a job or an array (12), a range (12-15), a job of an array (12[3]), "+
		"nor a job's name", text.Quoted(word))
}

// elements returns an array's jobs with some indices: 3, 0-4 or a list of both, or the array for "".
func (n Names) elements(word string, array uint64, indices string) (found []Target, err error) {
	jobs, err := n.In.Array(array)
	if err != nil || indices == "" {
		return []Target{{array, true}}, err
	}
	least, most := uint64(jobs[0].Index), uint64(jobs[len(jobs)-1].Index)
	for part := range strings.SplitSeq(indices, ",") {
		from, to, ok := indexRange(part)
		if !ok || from < least || to > most {
			return nil, usage.Errorf("%s: array %d has indices %d to %d", text.Quoted(word), array, least, most)
		}
		had := len(found)
		for _, j := range jobs {
			if i := uint64(j.Index); from <= i && i <= to {
				found = append(found, Target{Number: j.ID})
			}
		}
		if len(found) == had {
			return nil, usage.Errorf("%s: array %d has no such index between %d and %d", text.Quoted(word), array,
				least, most)
		}
	}
	return found, nil
}

// sequence returns the jobs of a range. The own number of an array is passed over: its jobs follow it.
func (n Names) sequence(word string, first, last uint64) (found []Target, err error) {
	for id := first; id <= last; id++ {
		is, err := n.In.IsArray(id)
		if err != nil {
			return nil, err
		}
		if !is {
			found = append(found, Target{Number: id})
		}
	}
	return found, nil
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

// Words splits lists of words at their commas, but for those of an array's indices.
func Words(lists ...string) (words []string) {
	for _, list := range lists {
		open := 0
		words = append(words, strings.FieldsFunc(list, func(c rune) bool {
			switch c {
			case '[':
				open++
			case ']':
				open--
			}
			return open <= 0 && c == ','
		})...)
	}
	return words
}

// Each calls fn for every job that words or lists of them name, each once. one says whether its word names a job alone,
// and not an array, a range or a name of several.
func (n Names) Each(words []string, fn func(j *engine.Job, one bool) error) error {
	seen := make(map[uint64]bool)
	return n.EachWord(words, func(found []Target) error {
		one := len(found) == 1 && !found[0].Array
		for _, t := range found {
			err := n.each(t, func(j *engine.Job) error {
				if seen[j.ID] {
					return nil
				}
				seen[j.ID] = true
				return fn(j, one)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// EachWord calls fn with the jobs and arrays that each word names, alone or in a list.
func (n Names) EachWord(words []string, fn func([]Target) error) error {
	if i := slices.IndexFunc(words, func(w string) bool { return len(Words(w)) == 0 }); i >= 0 {
		return malformed(words[i])
	}
	for _, word := range Words(words...) {
		found, err := n.Targets(word)
		if err == nil {
			err = fn(found)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// each calls fn for a job, or for the jobs of an array.
func (n Names) each(t Target, fn func(*engine.Job) error) error {
	if !t.Array {
		j, err := n.In.Get(t.Number)
		if err != nil {
			return err
		}
		return fn(j)
	}
	jobs, err := n.In.Array(t.Number)
	for _, j := range jobs {
		if err == nil {
			err = fn(j)
		}
	}
	return err
}

// Single returns the job or array that a word names.
func (n Names) Single(word string) (Target, error) {
	found, err := n.Targets(word)
	switch {
	case err != nil:
		return Target{}, err
	case len(found) != 1:
		return Target{}, usage.Errorf("%s names %d jobs; name one", text.Quoted(word), len(found))
	}
	return found[0], nil
}

// One returns the single job that a word names. An array is not one.
func (n Names) One(word string) (uint64, error) {
	t, err := n.Single(word)
	if err == nil && t.Array {
		err = n.notOne(word, t.Number)
	}
	return t.Number, err
}

// NoArray refuses a word that names an array as a whole.
func (n Names) NoArray(word string) error {
	found, err := n.Targets(word)
	if err != nil || !found[0].Array {
		return err
	}
	return n.notOne(word, found[0].Number)
}

// notOne says that an array is no single job, with the name of its first.
func (n Names) notOne(word string, array uint64) error {
	jobs, err := n.In.Array(array)
	if err != nil {
		return err
	}
	return usage.Errorf("%s is an array of %s; name one, such as %d[%d]", text.Quoted(word),
		text.Plural(len(jobs), "job"), array, jobs[0].Index)
}

// Array returns the number of the array that a word names as a whole: 12, or its name.
func (n Names) Array(word string) (uint64, error) {
	t, err := n.Single(word)
	if err != nil || t.Array {
		return t.Number, err
	}
	if IsName(word) {
		return 0, usage.Errorf("%s: job %v is not an array", text.Quoted(word), t)
	}
	_, err = n.In.Array(t.Number)
	return 0, err
}

// Next returns the single job that a word names, or the job of an array that waits and is next, else
// one that runs, else the first.
func (n Names) Next(word string) (uint64, error) {
	t, err := n.Single(word)
	if err != nil || !t.Array {
		return t.Number, err
	}
	jobs, err := n.In.Array(t.Number)
	if err != nil {
		return 0, err
	}
	for _, states := range [][]engine.JobState{{engine.JobQueued, engine.JobReserved, engine.JobLate}, {engine.JobHeld},
		{engine.JobRunning}} {
		for _, j := range jobs {
			if slices.Contains(states, j.State) {
				return j.ID, nil
			}
		}
	}
	return jobs[0].ID, nil
}
