package jobs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
)

// LaunchEnded records that a started job was launched or, with an error, that it could not be.
// A failed job is queued again, for another node if there is one, and held after this many
// failures. LaunchEnded ignores a job that has ended in the meantime.
func (as Attempts) LaunchEnded(id uint64, failed error, most int) error {
	if err := users.Operates(as.tx, "a launch"); err != nil {
		return err
	}
	j, err := as.tx.Job(id)
	if err != nil || j.State != row.JobRunning {
		return err
	}
	if failed == nil {
		if j.Failures != 0 {
			j.Failures = 0
			if err := PutJob(as.tx, j, j.State); err != nil {
				return err
			}
		}
		return as.tx.Happened(row.Event{Job: id, Event: "launch", Attempt: j.Attempt, Old: j.State.String(),
			New: j.State.String()})
	}
	if j.Ending { // it was stopped before it began
		return EndAsMarked(as.tx, j)
	}
	state, reason := row.JobQueued, fmt.Sprintf("launch failed: %v", failed)
	if j.Failures++; j.Failures >= most {
		state, reason = row.JobHeld, fmt.Sprintf("launch failed %d times, the last time: %v", j.Failures, failed)
	} else if err := elsewhere(as.tx, j); err != nil {
		return err
	}
	return MachineOf(as.tx).Do(j, Step{To: state, Reason: row.Because(row.CauseLaunch, reason), Leaving: NeverTold})
}

// elsewhere excludes the node where a launch has failed, unless the job has no other.
func elsewhere(tx *kernel.Tx, j *row.Job) error {
	was := slices.Clone(j.Excluded)
	j.Excluded = append(j.Excluded, firstNode(j))
	left, err := mayStillRun(tx, j)
	if !left || len(j.Excluded) > maxExcluded {
		j.Excluded = was
	}
	return err
}

// SetCommand records the command that runs for a job that was placed.
func (js Jobs) SetCommand(id uint64, command []string) error {
	j, err := forChange(js.tx, id, "given a command", row.JobReserved, row.JobRunning)
	if err != nil {
		return err
	}
	j.Command = command
	return PutJob(js.tx, j, j.State)
}

// toStop records that the launcher of a running job must be told to stop it. The job loses its
// nodes before its command has ended.
func toStop(tx *kernel.Tx, j *row.Job) error {
	if !j.Launched || j.Attended {
		return nil
	}
	return tx.File.Put(row.Stops, row.Key64(j.ID), row.EncodeJob(j))
}

// StopAgain has the next cycle report once more that a job must be stopped, because its launcher failed. The
// job is one of a cycle's Stopped. StopAgain ignores one that is reported anyway or no longer in the file.
func (as Attempts) StopAgain(stopped *kernel.Job) error {
	if err := users.Operates(as.tx, "a launch"); err != nil {
		return err
	}
	j, key := stopped.Row(), row.Key64(stopped.ID)
	if _, err := as.tx.Job(j.ID); err != nil {
		if errors.Is(err, row.ErrNotFound) {
			err = nil
		}
		return err
	}
	if told, err := as.tx.File.Get(row.Stops, key); told != nil || err != nil {
		return err
	}
	return as.tx.File.Put(row.Stops, key, row.EncodeJob(&j))
}

// LaunchBy sets how the jobs of this database are launched. The first call decides; others fail
// with a Conflict if they differ.
func (as Attempts) LaunchBy(way string) error {
	set, err := as.tx.Settings()
	if err != nil {
		return err
	}
	switch set.Launch {
	case way:
		return nil
	case "":
		as.tx.Loaded.Settings = nil
		err := as.tx.File.Put(row.Config, []byte("launch"), row.EncodeText(way))
		if err == nil {
			err = LeftToLaunch(as.tx)
		}
		return as.tx.Spoil(err)
	}
	if set.Start == kernel.StartAuto {
		return row.Clash("the setting start", "it is auto: the queue runner launches the jobs here, and "+
			"a job may not be launched in two ways; placectl config set start=manual launch=exec is for a launcher "+
			"of your own")
	}
	return row.Clash("the setting launch",
		fmt.Sprintf("it is %s: jobs here are launched that way, and a job may not be launched in two", set.Launch))
}

// LeftToLaunch announces jobs that cycles started before anything launched here: their starts
// were printed, but never claimed. A job that has waited long begins another attempt, so that
// there is time to claim it.
func LeftToLaunch(tx *kernel.Tx) error {
	set, err := tx.Settings()
	if err != nil {
		return err
	}
	return tx.EachJob(func(j *row.Job) error {
		if !j.OnlyPrinted() || j.End <= tx.Now {
			return nil
		}
		a, err := tx.Attempts().Of(j, j.CurrentAttempt())
		switch {
		case err != nil || a.State != row.AttemptStarted:
			return err
		case tx.Now >= ClaimedBy(tx, a.Began, set):
			return again(tx, j, row.Because(row.CauseUntold, "it was not launched before jobs were launched here"))
		}
		j.Launched = false
		return PutJob(tx, j, j.State)
	}, row.JobRunning)
}

// HostOf names the host that executes a job: that of its first node. It is the value of the
// node's resource host, or the node's name.
func (as Attempts) HostOf(j *kernel.Job) (string, error) {
	r := j.Row()
	return host(as.tx, &r)
}

func host(tx *kernel.Tx, j *row.Job) (string, error) {
	nodes := j.NodeNumbers()
	if len(nodes) == 0 {
		return "", row.Clash(fmt.Sprintf("job %d", j.ID), "it has no nodes")
	}
	n, err := kernel.SnapshotRows(tx).Node(nodes[0])
	if err != nil {
		return "", err
	}
	return kernel.HostOfNode(n), nil
}
