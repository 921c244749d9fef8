package listing

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
)

// fold is a group of jobs whose shown values are equal: one job, or jobs of an array.
type fold struct {
	jobs   []*engine.Job
	values []any
	same   string // the values as text
}

// Elements names jobs, those of an array by its number: 12-14,24[0-4,7].
func Elements(jobs []*engine.Job) string {
	var out []string
	jobs = slices.SortedFunc(slices.Values(jobs), func(a, b *engine.Job) int { return cmp.Compare(a.ID, b.ID) })
	for len(jobs) > 0 {
		array := jobs[0].Array
		n := slices.IndexFunc(jobs, func(j *engine.Job) bool { return j.Array != array })
		if n < 0 {
			n = len(jobs)
		}
		words := make([]string, n)
		for i, j := range jobs[:n] {
			if words[i] = JobID(j); array != 0 {
				words[i] = strconv.Itoa(j.Index)
			}
		}
		name := strings.Trim(index.FoldNodeList(words), "[]")
		if array != 0 {
			name = fmt.Sprintf("%d[%s]", array, name)
		}
		out, jobs = append(out, name), jobs[n:]
	}
	return strings.Join(out, ",")
}

// PrintFolded prints jobs for people. Successive jobs of an array whose shown values are equal share a
// line, 12[0-99], with their number. columns are those behind the job and that number. If no two jobs
// are alike, PrintFolded calls each instead.
func PrintFolded(begin func(output.Result) *output.Printer, tx *engine.Tx, jobs []*engine.Job, columns string,
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
		if n := len(folds); n > 0 && j.Array != 0 && folds[n-1].jobs[0].Array == j.Array && folds[n-1].same == same {
			folds[n-1].jobs = append(folds[n-1].jobs, j)
			continue
		}
		folds = append(folds, &fold{jobs: []*engine.Job{j}, values: values, same: same})
	}
	if len(folds) == len(jobs) {
		return each()
	}
	p := begin(output.Result{Columns: append([]output.Column{{Name: "job"}, {Name: "jobs", Kind: output.Integer}},
		fields.Columns()...)})
	for _, f := range folds {
		p.Row(append([]any{Elements(f.jobs), len(f.jobs)}, f.values...)...)
	}
	return p.Close()
}
