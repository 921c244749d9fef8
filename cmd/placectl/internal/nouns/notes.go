package nouns

import (
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/store"
)

// notes is what is to be known of jobs beside what they ask for: which options qsub, sbatch,
// qalter or scontrol have ignored. They are events, which are gone through once for all jobs
// of an answer: from the submission of the first that is asked for, and once more where a
// later one was submitted before.
type notes struct {
	tx   *store.Tx
	read uint64 // all events behind this one have been read
	jobs map[uint64][]note
}

// note is one of them.
type note struct {
	time time.Time
	text string
}

// of lists the notes of a job. Those of its submission are the first's of its array.
func (ns *notes) of(j *store.Job) (out noteList, err error) {
	after, _, err := store.EventsSince(ns.tx, j.Submit)
	if err != nil {
		return nil, err
	}
	if after < ns.read {
		ns.read, ns.jobs = after, make(map[uint64][]note)
		err := store.EachNote(ns.tx, after, func(e *store.Event) error {
			ns.jobs[e.Job] = append(ns.jobs[e.Job], note{e.Time, e.Reason})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if j.Array != 0 && j.Array != j.ID {
		for _, n := range ns.jobs[j.Array] {
			if n.time.Equal(j.Submit) {
				out = append(out, n.text)
			}
		}
	}
	for _, n := range ns.jobs[j.ID] {
		if !slices.Contains(out, n.text) {
			out = append(out, n.text)
		}
	}
	return out, nil
}

// noteList is what answers say in notes.
type noteList []string

// String is what people read.
func (l noteList) String() string { return strings.Join(l, "; ") }
