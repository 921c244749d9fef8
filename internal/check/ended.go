package check

import (
	"bytes"
	"slices"

	"github.com/placectl/placectl/internal/row"
)

// endedKey is the key of a job that has ended. They are kept in a list, because there may be
// millions.
type endedKey [16]byte

// inTurn verifies that jobs with higher numbers were submitted later.
func (d *recomputed) inTurn(j *row.Job) {
	if j.Submit < d.submitted {
		d.contradict("job %d was submitted at @%d, and one of a lower number at @%d", j.ID, j.Submit, d.submitted)
	}
	d.submitted = max(d.submitted, j.Submit)
}

// inOrder returns the jobs that have ended, in the order of their keys.
func (d *recomputed) inOrder() []endedKey {
	slices.SortFunc(d.ended, func(a, b endedKey) int { return bytes.Compare(a[:], b[:]) })
	return d.ended
}

// compareEnded reports how the list of the ended jobs differs from what it should be.
func (d *recomputed) compareEnded() error {
	want := d.inOrder()
	lacks := func() {
		d.Find("table %s lacks %x", row.Ended, want[0])
		want = want[1:]
	}
	err := d.store.Rows.Each(row.Ended, nil, func(key, payload []byte) (bool, error) {
		for len(want) > 0 && bytes.Compare(want[0][:], key) < 0 {
			lacks()
		}
		switch {
		case len(want) == 0 || !bytes.Equal(want[0][:], key):
			d.Find("table %s has %x, which should not be there", row.Ended, key)
			return true, nil
		case string(payload) != string(row.EncodeMark()):
			d.Find("table %s: %x is not what the rows say", row.Ended, key)
		}
		want = want[1:]
		return true, nil
	})
	for err == nil && len(want) > 0 {
		lacks()
	}
	return err
}
