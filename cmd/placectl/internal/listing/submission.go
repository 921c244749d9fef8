package listing

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/attribute"
	"github.com/placectl/placectl/internal/engine"
)

// PrintSubmission prints what was submitted, one job or an array, as one record. An array's own number is
// the one that stands for all; that of its i-th job is that of its first plus i.
func PrintSubmission(begin func(output.Result) *output.Printer, tx *engine.Tx, jobs []*engine.Job) error {
	counted := func(name string, value func() any) output.Field[*jobView] {
		a := attribute.Of(attribute.Submission, name)
		return output.Field[*jobView]{Name: name, Kind: kinds[a.Type], Required: a.Required, Value: func(*jobView) any {
			return value()
		}}
	}
	fields := jobFields.Pick("job state name array class priority select place walltime submit reason* reason_code*")
	fields = append(fields[:1:1], append(output.Fields[*jobView]{
		counted("count", func() any { return len(jobs) }),
		counted("indices", func() any { return output.OrNil(indices(jobs)) }),
	}, fields[1:]...)...)
	p := printFields(begin, tx, output.Result{Record: true, Made: true}, fields, whole(jobs[0]))
	p.Print(jobs[0])
	return p.Close()
}

// whole returns the column with the number that stands for a job or all of its array.
func whole(j *engine.Job) string {
	if j.Array != 0 {
		return "array"
	}
	return "job"
}

// indices formats the indices of an array's jobs: 0-99, 5-9:2 or 1,5,9-12. It is "" for jobs that are
// in no array.
func indices(jobs []*engine.Job) string {
	if jobs[0].Array == 0 {
		return ""
	}
	var parts []string
	for i := 0; i < len(jobs); {
		last, step := i+1, 1
		if last < len(jobs) {
			step = jobs[last].Index - jobs[i].Index
		}
		for last < len(jobs) && jobs[last].Index-jobs[last-1].Index == step {
			last++
		}
		if last == len(jobs) && i == 0 || step == 1 {
			parts = append(parts, span(jobs[i].Index, jobs[last-1].Index, step))
		} else {
			last = i + 1
			parts = append(parts, fmt.Sprint(jobs[i].Index))
		}
		i = last
	}
	return strings.Join(parts, ",")
}

// span formats a range of indices.
func span(first, last, step int) string {
	switch {
	case first == last:
		return fmt.Sprint(first)
	case step == 1:
		return fmt.Sprintf("%d-%d", first, last)
	}
	return fmt.Sprintf("%d-%d:%d", first, last, step)
}
