package recovery

import (
	"bytes"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// Rewind sets the rows of a file back from the instant was to the earlier instant to, both in Unix
// seconds.
func Rewind(rows *file.Recorder, to, was int64) error {
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
	if err := nodePasts(rows, to); err != nil {
		return err
	}
	return months(rows, to)
}

// table sets the rows of a table back.
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

// nodePasts moves changes of nodes by the wrong clock to the new instant, in the same order.
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
	if err != nil {
		return err
	}
	for i, c := range list {
		if err := rows.Remove(row.NodePasts, c.key); err != nil {
			return err
		}
		if err := rows.Put(row.NodePasts, row.TimeKey(to, next+uint64(i)), c.payload); err != nil {
			return err
		}
	}
	return nil
}

// months moves the use of deleted jobs in later months to the month of an instant.
func months(rows *file.Recorder, to int64) error {
	var list []change
	err := rows.Each(row.Gone, nil, func(key, payload []byte) (bool, error) {
		if m, _, err := row.SplitTotalKey(key); err != nil || m <= row.MonthOf(to) {
			return true, err
		}
		list = append(list, change{bytes.Clone(key), bytes.Clone(payload)})
		return true, nil
	})
	if err != nil {
		return err
	}
	for _, c := range list {
		if err := rows.Remove(row.Gone, c.key); err != nil {
			return err
		}
		if err := addGone(rows, c, to); err != nil {
			return err
		}
	}
	return nil
}

// addGone adds a total to that of the same payers in the month of an instant.
func addGone(rows *file.Recorder, c change, to int64) error {
	_, payers, err := row.SplitTotalKey(c.key)
	if err != nil {
		return err
	}
	key := row.TotalKey(row.MonthOf(to), payers)
	there, err := rows.Get(row.Gone, key)
	if err != nil {
		return err
	}
	if there == nil {
		return rows.Put(row.Gone, key, c.payload)
	}
	sum, err := row.TotalRow.Decode(key, there)
	if err != nil {
		return err
	}
	more, err := row.TotalRow.Decode(c.key, c.payload)
	if err != nil {
		return err
	}
	sum.Add(more, 1)
	return rows.PutOrRemove(row.Gone, key, goneRow(sum))
}

// goneRow returns the row of a total, or nil if the total is empty.
func goneRow(t *row.Total) []byte {
	if t.Empty() {
		return nil
	}
	return row.TotalRow.Encode(t)
}
