package queue

import "github.com/placectl/placectl/internal/row"

// age returns how long a job has waited for its turn.
func (o *Order) age(j *row.Job) (int64, error) {
	since := max(j.Submit, j.Begin)
	for _, d := range j.After {
		met, err := o.metAt(d)
		if met == 0 || err != nil {
			return 0, err
		}
		since = max(since, met)
	}
	idle := j.Idle
	if j.IdleSince != 0 {
		idle += max(0, o.at-j.IdleSince)
	}
	return max(0, o.at-since-idle), nil
}

// metAt returns when a dependency was met, or 0 if it is not met, and may never be.
func (o *Order) metAt(d row.Dependency) (at int64, err error) {
	if at, known := o.met[d]; known {
		return at, nil
	}
	other, err := o.tx.Progress(d)
	if err != nil {
		return 0, err
	}
	if ok, err := other.Met(d.When); !ok || err != nil {
		return 0, nil
	}
	list, err := o.tx.JobOrArray(d.Job)
	for _, j := range list {
		if d.When == row.After {
			at = max(at, j.Start)
		} else {
			at = max(at, j.End)
		}
	}
	if len(list) > 1 { // many jobs may depend on it
		if o.met == nil {
			o.met = make(map[row.Dependency]int64)
		}
		o.met[d] = at
	}
	return at, err
}
