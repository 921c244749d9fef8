package store

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/row"
)

// LaunchEnded records that a started job was launched or, with an error, that it could not be. Then
// it is queued again, and held after this many failures. It ignores a job that has ended in the
// meantime.
func (tx *Tx) LaunchEnded(id uint64, failed error, most int) error {
	if err := tx.operates("a launch"); err != nil {
		return err
	}
	j, err := tx.job(id)
	if err != nil || j.State != JobRunning {
		return err
	}
	if failed == nil {
		if j.Failures != 0 {
			j.Failures = 0
			if err := tx.putJob(j, j.State); err != nil {
				return err
			}
		}
		return tx.happened(row.Event{Job: id, Event: "launch", Attempt: j.Attempt, Old: j.State.String(), New: j.State.String()})
	}
	if j.Ending { // it has been stopped before it began
		return tx.attempts().asMarked(j)
	}
	state, reason := JobQueued, fmt.Sprintf("launch failed: %v", failed)
	if j.Failures++; j.Failures >= most {
		state, reason = JobHeld, fmt.Sprintf("launch failed %d times, the last time: %v", j.Failures, failed)
	}
	return tx.machine().do(j, step{to: state, reason: row.Because(row.CauseLaunch, reason), leaving: neverTold})
}

// SetCommand notes which command runs for a job that was placed.
func (tx *Tx) SetCommand(id uint64, command []string) error {
	j, err := tx.forChange(id, "given a command", JobReserved, JobRunning)
	if err != nil {
		return err
	}
	j.Command = command
	return tx.putJob(j, j.State)
}

// toStop notes that the launcher of a running job must be told to stop it: the job loses its nodes
// before its command has ended.
func (as attempts) toStop(j *row.Job) error {
	if !j.Launched || j.Attended {
		return nil
	}
	return as.file.Put(row.Stops, row.Key64(j.ID), row.EncodeJob(j))
}

// stops reports the jobs whose launchers have not been told to stop them yet.
func (p *pass) stops() error {
	var had []*row.Job
	err := p.tx.file.Each(row.Stops, nil, func(key, payload []byte) (bool, error) {
		j, err := row.DecodeJob(key, payload)
		had = append(had, j)
		return true, err
	})
	if err != nil {
		return err
	}
	for _, j := range had {
		is, err := p.tx.job(j.ID)
		if err != nil {
			return err
		}
		becomes := is.State
		if becomes == JobRunning { // it has started again
			becomes = JobQueued
		}
		j.State, j.Reason, j.End = becomes, cmp.Or(p.why[j.ID], is.Reason), p.tx.now
		if err := p.tx.file.Remove(row.Stops, row.Key64(j.ID)); err != nil {
			return err
		}
		p.stopped = append(p.stopped, j)
	}
	return nil
}

// Values of the setting launch.
const (
	LaunchExec = "exec" // cycles tell the site's launcher
	LaunchWork = "work" // passes have a keeper execute them
)

// LaunchBy sets how the jobs of this database are launched. The first call decides; others fail
// with a Conflict if they differ.
func (tx *Tx) LaunchBy(way string) error {
	set, err := tx.settings()
	if err != nil {
		return err
	}
	switch set.Launch {
	case way:
		return nil
	case "":
		tx.loaded.settings = nil
		return tx.spoil(errors.Join(tx.file.Put(row.Config, []byte("launch"), row.EncodeText(way)), tx.attempts().leftToLaunch()))
	}
	if set.Start == StartAuto {
		return row.Clash("the setting start", "it is auto: commands leave a process that launches the jobs here, and a job may not be launched in two ways; placectl config set start=manual launch=exec is for a launcher of your own")
	}
	return row.Clash("the setting launch", fmt.Sprintf("it is %s: jobs here are launched that way, and a job may not be launched in two", set.Launch))
}

// leftToLaunch announces jobs that cycles started before anything launched here: their starts were
// printed, but never claimed. A job that has waited for long begins another attempt, so that there
// is time to claim it.
func (as attempts) leftToLaunch() error {
	return as.eachJob(func(j *row.Job) error {
		if !j.OnlyPrinted() || j.End <= as.now {
			return nil
		}
		a, err := as.of(j, j.CurrentAttempt())
		switch {
		case err != nil || a.State != row.AttemptStarted:
			return err
		case as.now >= a.Began+claimWithin:
			return as.again(j, row.Because(row.CauseUntold, "it was not launched before jobs were launched here"))
		}
		j.Launched = false
		return as.putJob(j, j.State)
	}, JobRunning)
}

// HostOf names the host that executes a job: that of its first node, which is the node's resource
// host, or its name.
func (tx *Tx) HostOf(j *Job) (string, error) {
	r := j.row()
	return tx.attempts().host(&r)
}

func (as attempts) host(j *row.Job) (string, error) {
	nodes := j.NodeNumbers()
	if len(nodes) == 0 {
		return "", row.Clash(fmt.Sprintf("job %d", j.ID), "it has no nodes")
	}
	n, err := rows{as.Tx}.Node(nodes[0])
	if err != nil {
		return "", err
	}
	return HostOfNode(n), nil
}

// HostOfNode names the host of a node: what its resource host says, else its name.
func HostOfNode(n *index.Node) string {
	if v, ok := n.Get(index.Host); ok && v.Str != "" {
		return v.Str
	}
	return n.Name
}

// SameHost compares host names, ignoring case, and the domain if one has none.
func SameHost(a, b string) bool {
	shortA, domainA, _ := strings.Cut(a, ".")
	shortB, domainB, _ := strings.Cut(b, ".")
	return strings.EqualFold(shortA, shortB) && (domainA == "" || domainB == "" || strings.EqualFold(domainA, domainB))
}
