package check

import (
	"encoding/binary"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
)

// Pasts examines whether the changes of the nodes lead to their present state. If they do not,
// why says so. Then the changes up to and including the instant upTo must be removed, and the
// later ones say what nodes were since the instant since.
func Pasts(s *Store) (upTo, since int64, why string, err error) {
	present := roaring.New()
	err = s.Rows.Each(row.Nodes, nil, func(key, _ []byte) (bool, error) {
		if len(key) == 4 {
			present.Add(binary.BigEndian.Uint32(key))
		}
		return true, nil
	})
	if err != nil {
		return 0, 0, "", err
	}
	list, err := nodes.PastSince(s.Rows, -1)
	if err != nil {
		return 0, 0, "", err
	}
	at, why := nodes.Contradiction(list, present, s.State)
	return at, max(s.State.NodesSince, min(at, s.State.AsOf)), why, nil
}

// pasts reports what is wrong with the nodes' past.
func (f *Findings) pasts(s *Store) error {
	_, _, why, err := Pasts(s)
	if why != "" {
		f.Find("%s", why)
	}
	return err
}

// mendPasts removes the nodes' past up to a change that cannot be true.
func (f *Findings) mendPasts(s *Store) error {
	upTo, since, why, err := Pasts(s)
	if err != nil || why == "" {
		return err
	}
	f.Find("%s", why)
	s.State.NodesSince = since
	_, err = nodes.ForgetPast(s.Rows, upTo+1)
	return err
}
