// Package rewind puts the rows of a file back to an earlier instant, after a clock was ahead.
// Each kind of row says in its list of fields what its instants are to the clock. What follows
// from rows is made again by package check.
package rewind

import (
	"bytes"
	"errors"

	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// To puts the rows of a file that stood for one instant back to an earlier one, both in Unix
// seconds.
func To(rows *file.Recorder, to, was int64) error {
	z := row.Rewound{To: to, Was: was, Ended: make(map[uint64]int64)}
	err := rows.Each(row.Attempts, nil, func(key, payload []byte) (bool, error) {
		a, err := row.DecodeAttempt(key, payload)
		if err == nil {
			z.Ended[a.Job] = max(z.Ended[a.Job], a.Ended)
		}
		return true, err
	})
	if err != nil {
		return err
	}
	for t := range row.TableCount {
		if err := table(rows, t, z); err != nil {
			return err
		}
	}
	return errors.Join(nodePasts(rows, to), months(rows, to))
}

// table puts the rows of a table back.
func table(rows *file.Recorder, t row.Table, z row.Rewound) error {
	if t.Derived() {
		return nil
	}
	return rows.Each(t, nil, func(key, payload []byte) (bool, error) {
		back, err := row.Rewind(t, key, payload, z)
		if err != nil || back == nil {
			return true, err
		}
		return true, rows.Put(t, bytes.Clone(key), back)
	})
}

type change struct{ key, payload []byte }

// nodePasts has nodes that were changed by the wrong clock change now, in the same order.
func nodePasts(rows *file.Recorder, to int64) error {
	var list []change
	next := uint64(0)
	err := rows.Each(row.NodePasts, nil, func(key, payload []byte) (bool, error) {
		switch at, number := row.SplitTimeKey(key); {
		case at > to:
			list = append(list, change{bytes.Clone(key), bytes.Clone(payload)})
		case at == to:
			next = number + 1
		}
		return true, nil
	})
	for i, c := range list {
		err = errors.Join(err, rows.Remove(row.NodePasts, c.key), rows.Put(row.NodePasts, row.TimeKey(to, next+uint64(i)), c.payload))
	}
	return err
}

// months has jobs that are gone have had, in the month of an instant, all that they had later.
func months(rows *file.Recorder, to int64) error {
	var list []change
	err := rows.Each(row.Gone, nil, func(key, payload []byte) (bool, error) {
		if m, _, err := row.SplitTotalKey(key); err != nil || m <= row.MonthOf(to) {
			return true, err
		}
		list = append(list, change{bytes.Clone(key), bytes.Clone(payload)})
		return true, nil
	})
	for _, c := range list {
		err = errors.Join(err, rows.Remove(row.Gone, c.key), addGone(rows, c, to))
	}
	return err
}

// addGone adds what some had to what they had in the month of an instant.
func addGone(rows *file.Recorder, c change, to int64) error {
	_, payers, err := row.SplitTotalKey(c.key)
	if err != nil {
		return err
	}
	key := row.TotalKey(row.MonthOf(to), payers)
	there, err := rows.Get(row.Gone, key)
	if err != nil || there == nil {
		return errors.Join(err, rows.Put(row.Gone, key, c.payload))
	}
	sum, err := row.DecodeTotal(key, there)
	if err != nil {
		return err
	}
	more, err := row.DecodeTotal(c.key, c.payload)
	if err != nil {
		return err
	}
	sum.Add(more, 1)
	return rows.PutOrRemove(row.Gone, key, goneRow(sum))
}

// goneRow is the row of a total, nil if it comes to nothing.
func goneRow(t *row.Total) []byte {
	if t.Empty() {
		return nil
	}
	return row.EncodeTotal(t)
}
