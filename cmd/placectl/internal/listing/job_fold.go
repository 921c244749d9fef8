package listing

import (
	"fmt"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/store"
)

// fold is jobs that differ by nothing that is shown: one, or some of an array whose indexes
// follow one another.
type fold struct {
	first  *store.Job
	last   int // the index of the last one
	values []any
	same   string // the values as text
}

// takes reports whether another job is the next of the same.
func (f *fold) takes(j *store.Job, same string) bool {
	return j.Array != 0 && f.first.Array == j.Array && f.last+1 == j.Index && f.same == same
}

// name is what people call them: 12, 12[3], or 12[0-4].
func (f *fold) name() string {
	switch {
	case f.first.Array == 0:
		return JobID(f.first)
	case f.first.Index == f.last:
		return fmt.Sprintf("%d[%d]", f.first.Array, f.last)
	}
	return fmt.Sprintf("%d[%d-%d]", f.first.Array, f.first.Index, f.last)
}

// PrintFolded prints jobs for people: those of an array that follow one another and differ by
// nothing that is shown are a line, 12[0-99], and how many they are. The columns are those
// behind the job and the number. Where no two are alike it calls each instead.
func PrintFolded(begin func(output.Result) *output.Printer, tx *store.Tx, jobs []*store.Job, columns string, each func() error) error {
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
	p := begin(output.Result{Columns: append([]output.Column{{Name: "job"}, {Name: "jobs", Kind: output.Integer}}, fields.Columns()...)})
	for _, f := range folds {
		p.Row(append([]any{f.name(), f.last - f.first.Index + 1}, f.values...)...)
	}
	return p.Close()
}
