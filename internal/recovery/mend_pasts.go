package recovery

import (
	"maps"
	"slices"

	"github.com/placectl/placectl/internal/check"
	"github.com/placectl/placectl/internal/row"
)

// pasts deletes the past of nodes that can no longer be known: before a change that
// contradicts the recovered nodes, or all of it if a change is lost.
func (s *salvage) pasts(db *check.Store) (list []mended, err error) {
	st := *db.State
	upTo, since, why, err := check.Pasts(db)
	if err != nil {
		return nil, err
	}
	if want := s.read.Want; want != nil && int64(want.Tables[row.NodePasts].Count) != int64(
		s.read.Rows[row.NodePasts]) {
		upTo, since, why = st.AsOf, st.AsOf, "a change is lost"
	}
	if why == "" {
		return nil, nil
	}
	s.note(row.NodePasts, "what nodes were is known from %s on only: %s", row.Stamp(since), why)
	err = db.Rows.Each(row.NodePasts, nil, func(key, _ []byte) (bool, error) {
		at, _ := row.SplitTimeKey(key)
		if at <= upTo {
			list = append(list, mended{row.NodePasts, slices.Clone(key), nil})
		}
		return at <= upTo, nil
	})
	st.NodesSince = since
	return append(list, mended{row.Meta, row.KeyState, row.StateRow.Encode(&st)}), err
}

// rates lets decaying use grow by what running jobs hold, if its rows or jobs are lost.
func (s *salvage) rates(db *check.Store) (list []mended, err error) {
	rates, err := check.Rates(db)
	if len(rates) > 0 {
		s.note(row.Decays, "use that decays grows by what the jobs hold that run; what is lost of what lies back is "+
			"not counted")
	}
	for _, key := range slices.Sorted(maps.Keys(rates)) {
		list = append(list, mended{row.Decays, []byte(key), row.DecayedRow.Encode(rates[key])})
	}
	return list, err
}
