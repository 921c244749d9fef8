// Package rewind moves what began by a clock that was ahead to the instant that the file is
// to stand for: rows alone. What follows from them is made anew by package check.
package rewind

import (
	"bytes"
	"errors"

	"github.com/placectl/placectl/store/internal/answers"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// To puts the rows of a file that stood for one instant back to an earlier one, both in Unix
// seconds.
func To(rows *file.Recorder, to, was int64) error {
	z := &rewind{rows: rows, to: to, was: was}
	for _, step := range []func() error{z.jobs, z.attempts, z.reservations, z.batches, z.hosts, z.members, z.answers, z.shares, z.nodePasts} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

type rewind struct {
	rows    *file.Recorder
	to, was int64
}

// span moves a stretch of time: one that has begun begins now and lasts as long, one that
// has ended ends now.
func (z *rewind) span(start, end *int64) (changed bool) {
	switch {
	case *start > z.to && *start <= z.was && *end > z.was:
		*end -= *start - z.to
		*start = z.to
	case *end > z.to && *end <= z.was:
		*end = z.to
		*start = min(*start, z.to)
	default:
		return false
	}
	return true
}

// past moves an instant that is to lie in the past.
func (z *rewind) past(at *int64) (changed bool) {
	if *at <= z.to {
		return false
	}
	*at = z.to
	return true
}

func (z *rewind) jobs() error {
	return z.rows.Each(row.Jobs, nil, func(key, payload []byte) (bool, error) {
		j, err := row.DecodeJob(key, payload)
		if err != nil {
			return false, err
		}
		changed := z.past(&j.Submit)
		switch {
		case j.State == row.JobRunning && j.Start > z.to:
			j.End -= j.Start - z.to
			j.Start, changed = z.to, true
		case j.State > row.JobRunning && !j.State.Live():
			changed = z.past(&j.End) || changed
			changed = z.past(&j.Start) || changed
		}
		if !changed {
			return true, nil
		}
		return true, z.rows.Put(row.Jobs, key, row.EncodeJob(j))
	})
}

func (z *rewind) attempts() error {
	return z.rows.Each(row.Attempts, nil, func(key, payload []byte) (bool, error) {
		a, err := row.DecodeAttempt(key, payload)
		if err != nil {
			return false, err
		}
		changed := false
		for _, at := range []*int64{&a.Began, &a.Claimed, &a.Ended} {
			changed = z.past(at) || changed
		}
		if !changed {
			return true, nil
		}
		return true, z.rows.Put(row.Attempts, key, row.EncodeAttempt(a))
	})
}

func (z *rewind) reservations() error {
	return z.rows.Each(row.Reservations, nil, func(key, payload []byte) (bool, error) {
		r, err := row.DecodeReservation(key, payload)
		if err != nil || !z.span(&r.Start, &r.End) {
			return true, err
		}
		return true, z.rows.Put(row.Reservations, key, row.EncodeReservation(r))
	})
}

// batches moves the leases of jobs that were sent by the wrong clock.
func (z *rewind) batches() error {
	return z.rows.Each(row.BatchTasks, nil, func(key, payload []byte) (bool, error) {
		b, err := row.DecodeBatchTasks(key, payload)
		if err != nil {
			return false, err
		}
		changed := false
		for i := range b.Tasks {
			for k := range b.Tasks[i].Instances {
				x := &b.Tasks[i].Instances[k]
				if x.Sent > z.to {
					x.Until -= x.Sent - z.to
					x.Sent, changed = z.to, true
				}
			}
		}
		if !changed {
			return true, nil
		}
		return true, z.rows.Put(row.BatchTasks, key, row.EncodeBatchTasks(b))
	})
}

func (z *rewind) hosts() error {
	return z.rows.Each(row.Hosts, nil, func(key, payload []byte) (bool, error) {
		h, err := row.DecodeHost(key, payload)
		if err != nil || !z.past(&h.Seen) {
			return true, err
		}
		return true, z.rows.Put(row.Hosts, key, row.EncodeHost(h))
	})
}

func (z *rewind) members() error {
	return z.rows.Each(row.BatchHosts, nil, func(key, payload []byte) (bool, error) {
		m, err := row.DecodeMember(key, payload)
		if err != nil {
			return false, err
		}
		changed := false
		if by := m.Seen - z.to; by > 0 && m.Idle > 0 {
			m.Idle, changed = max(m.Idle-by, z.to), true
		}
		for _, at := range []*int64{&m.Joined, &m.Moved, &m.Busy, &m.Seen} {
			changed = z.past(at) || changed
		}
		if !changed {
			return true, nil
		}
		return true, z.rows.Put(row.BatchHosts, key, row.EncodeMember(m))
	})
}

// answers lets those that were given by the wrong clock be forgotten in time.
func (z *rewind) answers() error {
	given := answers.Answers{Rows: z.rows}
	return z.rows.Each(row.Answers, nil, func(key, payload []byte) (bool, error) {
		a, err := row.DecodeAnswerText(key, payload)
		if err != nil || a.At <= z.to {
			return true, err
		}
		if err := given.Remove(a); err != nil {
			return false, err
		}
		a.Until -= a.At - z.to
		a.At = z.to
		return true, given.Put(a)
	})
}

// shares has classes out of balance since then.
func (z *rewind) shares() error {
	payload, err := z.rows.Get(row.Shares, row.KeyShareState)
	if err != nil || payload == nil {
		return err
	}
	timer, err := row.DecodeShareTimer(payload)
	if err != nil || !timer.Running || !z.past(&timer.Since) {
		return err
	}
	return z.rows.Put(row.Shares, row.KeyShareState, row.EncodeShareTimer(timer))
}

// nodePasts has nodes that were changed by the wrong clock change now, in the same order.
func (z *rewind) nodePasts() error {
	type change struct{ key, payload []byte }
	var list []change
	next := uint64(0)
	err := z.rows.Each(row.NodePasts, nil, func(key, payload []byte) (bool, error) {
		switch at, number := row.SplitTimeKey(key); {
		case at > z.to:
			list = append(list, change{bytes.Clone(key), bytes.Clone(payload)})
		case at == z.to:
			next = number + 1
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	for i, c := range list {
		if err := errors.Join(z.rows.Remove(row.NodePasts, c.key), z.rows.Put(row.NodePasts, row.TimeKey(z.to, next+uint64(i)), c.payload)); err != nil {
			return err
		}
	}
	return nil
}
