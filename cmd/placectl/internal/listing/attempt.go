package listing

import (
	"fmt"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
)

// attemptObject is an attempt of a job, as JSON shows it. Its fields have the names of the columns of
// the table attempts.
type attemptObject struct {
	Attempt  int      `json:"attempt"`
	State    string   `json:"state"`
	By       *string  `json:"by"`
	Host     *string  `json:"host"`
	Began    *string  `json:"began"`
	Claimed  *string  `json:"claimed"`
	Ended    *string  `json:"ended"`
	Outcome  *string  `json:"outcome"`
	Exit     *int     `json:"exit"`
	Signal   *int     `json:"signal"`
	Why      *string  `json:"why"`
	CPUUser  *float64 `json:"cpu_user"`
	CPUSys   *float64 `json:"cpu_sys"`
	MaxRSS   *int64   `json:"max_rss"`
	MemPeak  *int64   `json:"mem_peak"`
	Leftover *int     `json:"leftover"`
	Nodes    []string `json:"nodes"`
	Devices  *string  `json:"devices"`
}

// attemptList holds the attempts of a job. As text they follow one another.
type attemptList []attemptObject

func (list attemptList) String() string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = list[i].text()
	}
	return strings.Join(texts, "; ")
}

// text describes an attempt: 2 failed on n1 with status 3: why.
func (a *attemptObject) text() string {
	text := fmt.Sprint(a.Attempt, " ", a.State)
	if a.Outcome != nil {
		text = fmt.Sprint(a.Attempt, " ", *a.Outcome)
	}
	if a.Exit != nil {
		text += fmt.Sprint(" ", *a.Exit)
	}
	if a.By != nil && a.Outcome == nil {
		text += " by " + *a.By
	}
	if len(a.Nodes) > 0 {
		text += " on " + index.FoldNodeList(a.Nodes)
	}
	if a.Devices != nil {
		text += " with " + heldDevices(*a.Devices).String()
	}
	if a.Why != nil {
		text += " (" + *a.Why + ")"
	}
	return text
}

// attempts returns the attempts of the job, nil if it has never started.
func (j *jobView) attempts() any {
	if list := readJob(j, j.readAttempts); len(list) > 0 {
		return list
	}
	return nil
}

func (j *jobView) readAttempts(job *engine.Job) (list attemptList, err error) {
	err = j.tx.Attempts().Each(job.ID, func(a *engine.Attempt) error {
		nodes, err := j.tx.Nodes().Names(a.AllNodes())
		if err != nil {
			return err
		}
		o := attemptObject{Attempt: a.Number, State: a.State.String(), By: known(a.By.String()), Host: known(a.Host),
			Began: moment(a.Began), Claimed: moment(a.Claimed), Ended: moment(a.Ended),
			Outcome: known(a.Outcome.String()), Signal: known(a.Signal), Why: known(a.Why),
			CPUUser: known(a.Use.CPUUser.Seconds()), CPUSys: known(a.Use.CPUSystem.Seconds()),
			MaxRSS: known(a.Use.MaxRSS), MemPeak: known(a.Use.MemPeak),
			Leftover: known(a.Use.Leftover), Nodes: nodes, Devices: known(a.Devices)}
		if a.HasExit() {
			o.Exit = &a.Exit
		}
		list = append(list, o)
		return nil
	})
	return list, err
}

// known returns a pointer to a value, nil for the zero value, which JSON shows as null.
func known[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}

func moment(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return known(t.UTC().Format(time.RFC3339))
}
