package check

import (
	"maps"
	"slices"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/usage"
	"github.com/placectl/placectl/placer/subject"
)

// The past part of decaying use cannot be recomputed, because jobs are archived. What is held
// now can: it is what the running jobs hold.

// heldNow is an amount held now: num units of size one.
type heldNow struct{ num, one int64 }

// heldBy adds up what the running jobs hold, by the keys of row.Decays and by names.
func (f *Findings) heldBy(s *Store) (map[string]map[string]heldNow, error) {
	defs, err := s.Resources()
	if err != nil {
		return nil, err
	}
	l, out := &usage.Ledger{Defs: defs}, make(map[string]map[string]heldNow)
	return out, s.running(func(key, payload []byte) (bool, error) {
		j, err := row.DecodeJob(key, payload)
		if err != nil || j.State != row.JobRunning {
			return true, err
		}
		a, err := s.attempt(j, j.CurrentAttempt())
		if err != nil {
			return false, err
		}
		nodes := len(a.AllNodes())
		if nodes == 0 || a.Began <= 0 {
			return true, nil
		}
		whose := string(row.DecayedKey(j.Whose()))
		if out[whose] == nil {
			out[whose] = make(map[string]heldNow)
		}
		for _, h := range l.Held(j, nodes) {
			out[whose][h.Name] = heldNow{out[whose][h.Name].num + h.Num, h.One}
		}
		return true, nil
	})
}

// running calls fn for the rows of the running jobs, and maybe of others: if jobs are not
// listed by state, it calls fn for all.
func (s *Store) running(fn func(key, payload []byte) (bool, error)) error {
	if any, err := s.Rows.Last(row.JobStates); err != nil {
		return err
	} else if any == nil {
		return s.Rows.Each(row.Jobs, nil, fn)
	}
	return s.Rows.Each(row.JobStates, []byte{byte(row.JobRunning)}, func(key, _ []byte) (bool, error) {
		payload, err := s.Rows.Get(row.Jobs, key[1:])
		if err != nil || payload == nil {
			return true, err
		}
		return fn(key[1:], payload)
	})
}

// Rates returns the rows of decaying use that are wrong, corrected to what the running jobs
// hold. Past use stays as it is.
func Rates(s *Store) (map[string]*row.Decayed, error) {
	return NewFindings(func(string) {}).rates(s)
}

// rates compares what is held according to decaying use with the running jobs. It returns the
// wrong rows, corrected.
func (f *Findings) rates(s *Store) (mended map[string]*row.Decayed, err error) {
	d, err := s.tx.Decay()
	if err != nil || !d.Kept {
		return nil, err
	}
	held, err := f.heldBy(s)
	if err != nil {
		return nil, err
	}
	mended = make(map[string]*row.Decayed)
	look := func(key string, x *row.Decayed) error {
		whose, err := row.SplitDecayedKey([]byte(key))
		if err != nil {
			return err
		}
		wrong := false
		for i := range x.Uses {
			u := &x.Uses[i]
			is := held[key][u.Name]
			delete(held[key], u.Name)
			if u.Rate != is.num {
				f.Find("decaying use of %s: %d of %s are held by it, and %d by jobs that run", whose[subject.User],
					u.Rate, u.Name, is.num)
				wrong = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(held[key])) {
			if h := held[key][name]; h.num != 0 {
				f.Find("decaying use of %s: nothing of %s is held by it, and %d by jobs that run", whose[subject.User],
					name, h.num)
				wrong = true
			}
		}
		if wrong {
			mended[key] = x
		}
		delete(held, key)
		return nil
	}
	all, err := f.heldBy(s)
	if err != nil {
		return nil, err
	}
	err = s.Rows.Each(row.Decays, nil, func(key, payload []byte) (bool, error) {
		x, err := row.DecayedRow.Decode(key, payload)
		if err == nil {
			err = look(string(key), x)
		}
		return true, err
	})
	for _, key := range slices.Sorted(maps.Keys(held)) {
		if err == nil {
			err = look(key, &row.Decayed{At: s.State.AsOf})
		}
	}
	for key, x := range mended {
		hold(x, all[key], s.State.AsOf, d.HalfLife)
	}
	return mended, err
}

// hold makes held the only things that x holds from an instant on.
func hold(x *row.Decayed, held map[string]heldNow, at, halfLife int64) {
	x.Move(at, halfLife)
	for i := range x.Uses {
		x.Uses[i].Rate = held[x.Uses[i].Name].num
		delete(held, x.Uses[i].Name)
	}
	for _, name := range slices.Sorted(maps.Keys(held)) {
		x.Uses = append(x.Uses, row.DecayedUse{Name: name, Rate: held[name].num, One: max(held[name].one, 1)})
	}
}

// mendRates makes decaying use grow by what the running jobs hold, from now on.
func (f *Findings) mendRates(s *Store) error {
	mended, err := f.rates(s)
	for _, key := range slices.Sorted(maps.Keys(mended)) {
		if err == nil {
			err = s.Rows.Put(row.Decays, []byte(key), row.DecayedRow.Encode(mended[key]))
		}
	}
	return err
}
