package nodes

import (
	"slices"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// Beats returns the heartbeats of all hosts, in the order of users and hosts.
func Beats(rows *file.Recorder) (beats []row.Beat, err error) {
	err = rows.Each(row.Meta, row.BeatPrefix(), func(key, payload []byte) (_ bool, err error) {
		beats, err = row.Beats(key, payload, beats)
		return true, err
	})
	return beats, err
}

// Beat returns the heartbeat of a user's processes on a host, or nil if there was none.
func Beat(rows *file.Recorder, host, user string) (*row.Beat, error) {
	key := (&row.Beat{Host: host, User: user}).Key()
	payload, err := rows.Get(row.Meta, key)
	if err != nil || payload == nil {
		return nil, err
	}
	beats, err := row.Beats(key, payload, nil)
	if err != nil || len(beats) == 0 {
		return nil, err
	}
	return &beats[0], nil
}

// KeepBeat stores a heartbeat.
func KeepBeat(rows *file.Recorder, b *row.Beat) error {
	return rows.Put(row.Meta, b.Key(), row.BeatRow.Encode(b))
}

// Refused records that a node refused a job at an instant. It reports whether the node is
// suspect, because it has refused many different jobs within that many seconds and executed
// none in between (see Executed). Only different jobs count, so that a job that no host can
// execute does not make one node after the other suspect.
func Refused(rows *file.Recorder, node uint32, job uint64, at int64, many int, within int64) (suspect bool, err error) {
	key := row.KeyRefused(node)
	is := new(row.Refused)
	payload, err := rows.Get(row.Meta, key)
	if err == nil && payload != nil {
		is, err = row.RefusedRow.Decode(key, payload)
	}
	if err != nil {
		return false, err
	}
	since := at - within
	is.Jobs = slices.DeleteFunc(is.Jobs, func(j row.RefusedJob) bool { return j.At <= since || j.Job == job })
	is.Jobs = append(is.Jobs, row.RefusedJob{Job: job, At: at})
	if len(is.Jobs) >= many {
		return true, nil
	}
	return false, rows.Put(row.Meta, key, row.RefusedRow.Encode(is))
}

// Executed deletes the record of a node's refusals, because it has executed a job, or its
// state has changed.
func Executed(rows *file.Recorder, node uint32) error {
	key := row.KeyRefused(node)
	payload, err := rows.Get(row.Meta, key)
	if err != nil || payload == nil {
		return err
	}
	return rows.Remove(row.Meta, key)
}
