package store

import "fmt"

// LaunchEnded notes that a job which a cycle has started was launched, or, with an
// error, that it could not be: then it is queued again, and after so many failures
// held. One that has ended in the meantime is left alone.
func (tx *Tx) LaunchEnded(id uint64, failed error, most int) error {
	j, err := tx.Job(id)
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
		return tx.happened(Event{Job: id, Event: "launch", Old: j.State.String(), New: j.State.String()})
	}
	state, reason := JobQueued, fmt.Sprintf("launch failed: %v", failed)
	if j.Failures++; j.Failures >= most {
		state, reason = JobHeld, fmt.Sprintf("launch failed %d times, the last time: %v", j.Failures, failed)
	}
	return tx.unplan(j, state, reason)
}

// SetCommand notes which command runs for a job that was placed.
func (tx *Tx) SetCommand(j *Job, command []string) error {
	if !tx.Writable() {
		return ErrReadOnly
	}
	j.Command = command
	return tx.putJob(j, j.State)
}
