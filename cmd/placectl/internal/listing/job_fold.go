package listing

import (
	"fmt"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/store"
)

// fold is a group of jobs whose shown values are equal: one job, or jobs of an array with successive
// indices.
type fold struct {
	first  *store.Job
	last   int // the last job's index
	values []any
	same   string // the values as text
}

// takes reports whether another job continues the group.
func (f *fold) takes(j *store.Job, same string) bool {
	return j.Array != 0 && f.first.Array == j.Array && f.last+1 == j.Index && f.same == same
}

// name returns the group's name for people: 12, 12[3], or 12[0-4].
func (f *fold) name() string {
	switch {
	case f.first.Array == 0:
		return JobID(f.first)
	case f.first.Index == f.last:
		return fmt.Sprintf("%d[%d]", f.first.Array, f.last)
	}
	return fmt.Sprintf("%d[%d-%d]", f.first.Array, f.first.Index, f.last)
}

// PrintFolded prints jobs for people. Successive jobs of an array whose shown values are equal share a
// line, 12[0-99], with their number. columns are those behind the job and that number. If no two jobs
// are alike, PrintFolded calls each instead.
func PrintFolded(begin func(output.Result) *output.Printer, tx *store.Tx, jobs []*store.Job, columns string,
	each func() error) error {
	fields := jobFields.Pick(columns)
	var folds []*fold
	for _, j := range jobs {
		view := &jobView{Job: j, tx: tx}
		values := make([]any, len(fields))
		for i := range fields {
			values[i] = fields[i].Value(view)
		}
		if view.err != nil {
			return view.err
		}
		same := fmt.Sprint(values)
		if n := len(folds); n > 0 && folds[n-1].takes(j, same) {
			folds[n-1].last = j.Index
			continue
		}
		folds = append(folds, &fold{first: j, last: j.Index, values: values, same: same})
	}
	if len(folds) == len(jobs) {
		return each()
	}
	p := begin(output.Result{Columns: append([]output.Column{{Name: "job"}, {Name: "jobs", Kind: output.Integer}},
		fields.Columns()...)})
	for _, f := range folds {
		p.Row(append([]any{f.name(), f.last - f.first.Index + 1}, f.values...)...)
	}
	return p.Close()
}
