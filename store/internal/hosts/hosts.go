// Package hosts keeps what is known of the hosts that execute attempts: when each user's
// processes there were heard of last, and which jobs their nodes have refused since they
// executed one. It sees rows; what becomes of jobs and nodes is package store's to say.
package hosts

import (
	"slices"

	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// Beats are those of all hosts, in the order of users and hosts.
func Beats(rows *file.Recorder) (beats []row.Beat, err error) {
	err = rows.Each(row.Meta, row.BeatPrefix(), func(key, payload []byte) (_ bool, err error) {
		beats, err = row.Beats(key, payload, beats)
		return true, err
	})
	return beats, err
}

// Keep stores a heartbeat.
func Keep(rows *file.Recorder, b *row.Beat) error {
	return rows.Put(row.Meta, b.Key(), row.EncodeBeat(b))
}

// Refused takes note at an instant that a node has refused a job, and reports whether it
// has refused so many different ones within so many seconds: then it is suspect. Only
// different jobs count, with none in between that it has executed (see Executed): a job
// that no host can execute must not make one after the other suspect.
func Refused(rows *file.Recorder, node uint32, job uint64, at int64, many int, within int64) (suspect bool, err error) {
	key := row.KeyRefused(node)
	is := new(row.Refused)
	payload, err := rows.Get(row.Meta, key)
	if err == nil && payload != nil {
		is, err = row.DecodeRefused(key, payload)
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
	return false, rows.Put(row.Meta, key, row.EncodeRefused(is))
}

// Executed forgets what a node has refused: it has executed something, or its state is
// another.
func Executed(rows *file.Recorder, node uint32) error {
	key := row.KeyRefused(node)
	payload, err := rows.Get(row.Meta, key)
	if err != nil || payload == nil {
		return err
	}
	return rows.Remove(row.Meta, key)
}
