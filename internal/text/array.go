package text

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxIndex is the greatest index of an array's job.
const maxIndex = 1_000_000_000

// Array says which indexes the jobs of an array have, and how many of them may run at once.
type Array struct {
	Count  int          // indexes 0 to Count-1; 0 if Ranges has them
	Ranges []IndexRange // as they were written
	Limit  int          // at most this many at once; 0 sets no limit
}

// IndexRange holds the indexes First, First+Step ... up to Last. A single index has Last equal
// to First, and Step 1.
type IndexRange struct{ First, Last, Step int }

func (r IndexRange) count() int { return (r.Last-r.First)/r.Step + 1 }

// ParseArray reads a number of jobs, such as 100, or a list of indexes as ParseIndexes does. A
// single number is the number of jobs; 5-5 is the one job with index 5.
func ParseArray(s string, most int) (Array, error) {
	list, limit, limited := strings.Cut(s, "%")
	if !allDigits(list) {
		return ParseIndexes(s, most)
	}
	var a Array
	var err error
	if a.Count, err = number(list, 1, most); err != nil {
		return Array{}, badArray(s, fmt.Sprintf("it has 1 to %d jobs", most))
	}
	return a, a.limit(s, limit, limited)
}

// ParseIndexes reads a list of indexes: 0-99, 0-99:2, 1,5,9-12, and each with %10 after it for
// at most 10 jobs at once. An index is at most 10^9, and there are at most as many jobs as
// most says. An index that is named twice is one job.
func ParseIndexes(s string, most int) (Array, error) {
	list, limit, limited := strings.Cut(s, "%")
	var a Array
	jobs := 0
	for item := range strings.SplitSeq(list, ",") {
		r, err := parseRange(item)
		if err != nil {
			return Array{}, badArray(s, err.Error())
		}
		if jobs += r.count(); jobs > most {
			return Array{}, badArray(s, fmt.Sprintf("it has more than %d jobs", most))
		}
		a.Ranges = append(a.Ranges, r)
	}
	return a, a.limit(s, limit, limited)
}

func (a *Array) limit(s, text string, given bool) (err error) {
	if !given {
		return nil
	}
	if a.Limit, err = number(text, 1, maxIndex); err != nil {
		*a = Array{}
		return badArray(s, "behind % stands how many may run at once, from 1 on")
	}
	return nil
}

func parseRange(item string) (r IndexRange, err error) {
	span, step, stepped := strings.Cut(item, ":")
	first, last, isSpan := strings.Cut(span, "-")
	if r.First, err = number(first, 0, maxIndex); err != nil {
		return r, err
	}
	r.Last, r.Step = r.First, 1
	if isSpan {
		if r.Last, err = number(last, 0, maxIndex); err != nil {
			return r, err
		}
	}
	switch {
	case r.Last < r.First:
		return r, fmt.Errorf("%s goes down", Quoted(span))
	case stepped && !isSpan:
		return r, fmt.Errorf("%s has a step and no range", Quoted(item))
	case stepped:
		if r.Step, err = number(step, 1, maxIndex); err != nil {
			return r, fmt.Errorf("the step %s is not a whole number of 1 or more", Quoted(step))
		}
	}
	return r, nil
}

// number reads a whole number without a sign.
func number(s string, least, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if !allDigits(s) || errors.Is(err, strconv.ErrRange) || n < least || n > most {
		return 0, fmt.Errorf("%s is not a whole number from %d to %d", Quoted(s), least, most)
	}
	return n, nil
}

func badArray(s, why string) error {
	const shown = 60
	if len(s) > shown {
		s = s[:shown] + "..."
	}
	return fmt.Errorf("%q is not an array: %s; write 100 (jobs), 0-99, 0-99:2 or 1,5,9-12, and %%10 behind it for at "+
		"most 10 at once", s, why)
}

// String writes the array as ParseArray and ParseIndexes read it.
func (a Array) String() string {
	var b []byte
	if a.Count > 0 {
		b = strconv.AppendInt(b, int64(a.Count), 10)
	}
	for i, r := range a.Ranges {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(r.First), 10)
		if r.Last > r.First || len(a.Ranges) == 1 { // a single number would be the number of jobs
			b = strconv.AppendInt(append(b, '-'), int64(r.Last), 10)
		}
		if r.Step > 1 && r.Last > r.First {
			b = strconv.AppendInt(append(b, ':'), int64(r.Step), 10)
		}
	}
	if a.Limit > 0 {
		b = strconv.AppendInt(append(b, '%'), int64(a.Limit), 10)
	}
	return string(b)
}

// Indexes returns the indexes of its jobs, ascending, each once.
func (a Array) Indexes() []int {
	var list []int
	for i := range a.Count {
		list = append(list, i)
	}
	for _, r := range a.Ranges {
		for i := range r.count() {
			list = append(list, r.First+i*r.Step)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
