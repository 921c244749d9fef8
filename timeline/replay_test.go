package timeline

import (
	"errors"
	"iter"
	"testing"
)

// plan is what scenarios are replayed on: a Planner or a Multi.
type plan interface {
	Len() int
	add(start, duration int64, amounts []int64) (SpanID, error)
	Remove(SpanID) error
	reduce(id SpanID, types []string, amounts []int64) error
	resize(types []string, totals []int64) error
	span(SpanID) (start, duration, amount int64, err error)
	freeAt(t int64, i int) (int64, error)
	freeDuring(start, duration int64) (int64, error)
	fits(start, duration int64, amounts []int64) (bool, error)
	earliest(after, duration int64, amounts []int64) (int64, error)
	change(after, duration int64, amounts []int64) (int64, error)
	starts(after, duration int64, amounts []int64) iter.Seq[int64]
}

type single struct{ *Planner }

func (p single) add(start, duration int64, a []int64) (SpanID, error) {
	return p.Add(Span{start, duration, a[0]})
}
func (p single) reduce(id SpanID, _ []string, a []int64) error { return p.Reduce(id, a[0]) }
func (p single) resize(_ []string, totals []int64) error       { return p.Resize(totals[0]) }
func (p single) freeAt(t int64, _ int) (int64, error)          { return p.FreeAt(t) }
func (p single) freeDuring(start, d int64) (int64, error)      { return p.FreeDuring(start, d) }
func (p single) fits(start, d int64, a []int64) (bool, error)  { return p.Fits(start, d, a[0]) }
func (p single) earliest(t, d int64, a []int64) (int64, error) { return p.EarliestStart(t, d, a[0]) }
func (p single) change(t, d int64, a []int64) (int64, error)   { return p.EarliestChange(t, d, a[0]) }
func (p single) starts(t, d int64, a []int64) iter.Seq[int64]  { return p.Starts(t, d, a[0]) }
func (p single) span(id SpanID) (start, d, a int64, err error) {
	s, err := p.Span(id)
	return s.Start, s.Duration, s.Amount, err
}

type several struct{ *Multi }

func (m several) add(start, duration int64, a []int64) (SpanID, error) {
	return m.Add(MultiSpan{start, duration, a})
}

func (m several) reduce(id SpanID, types []string, a []int64) error {
	byName := map[string]int64{}
	for i, name := range types {
		byName[name] = a[i]
	}
	v, err := m.Vector(byName)
	if err != nil {
		return err
	}
	return m.Reduce(id, v)
}

func (m several) resize(types []string, totals []int64) error {
	return m.Resize(quantities(types, totals))
}
func (m several) freeAt(t int64, i int) (int64, error)          { return m.FreeAt(t, i) }
func (m several) freeDuring(start, d int64) (int64, error)      { return m.FreeDuring(start, d, 0) }
func (m several) fits(start, d int64, a []int64) (bool, error)  { return m.Fits(start, d, a) }
func (m several) earliest(t, d int64, a []int64) (int64, error) { return m.EarliestStart(t, d, a) }
func (m several) change(t, d int64, a []int64) (int64, error)   { return m.EarliestChange(t, d, a) }
func (m several) starts(t, d int64, a []int64) iter.Seq[int64]  { return m.Starts(t, d, a) }
func (m several) span(id SpanID) (start, d, a int64, err error) {
	s, err := m.Span(id)
	if err != nil {
		return 0, 0, 0, err
	}
	return s.Start, s.Duration, s.Amounts[0], nil
}

func quantities(types []string, totals []int64) []Quantity {
	var q []Quantity
	for i, name := range types {
		q = append(q, Quantity{name, totals[i]})
	}
	return q
}

// A replay holds what is needed to know which of our errors one of Flux's corresponds to, and
// Flux's iterator.
type replay struct {
	*testing.T
	s      scenario
	open   func(base, duration int64) (plan, error)
	p      plan
	start  int64
	end    int64
	totals []int64
	ids    map[int]SpanID
	last   vector // of the last first
	at     int64  // the last answer of first or next, -1 for none
	valid  bool   // no change since first
	early  int    // windows before the plan that Flux accepts
}

func newReplay(t *testing.T, s scenario, totals []int64, open func(base, duration int64) (plan, error)) *replay {
	r := &replay{T: t, s: s, open: open, totals: totals}
	r.reset(s.BaseTime, s.Duration)
	return r
}

func (r *replay) reset(base, duration int64) {
	p, err := r.open(base, duration)
	if err != nil {
		r.Fatal(err)
	}
	r.p, r.start, r.end, r.ids, r.valid = p, base, base+duration, map[int]SpanID{}, false
}

func (r *replay) run() {
	for i := range r.s.Ops {
		v := &r.s.Ops[i]
		got, err, want, wantErr := r.do(v)
		if !errors.Is(err, wantErr) || err == nil && got != want {
			r.Fatalf("operation %d, %+v: %v, %v; want %v, %v", i, *v, got, err, want, wantErr)
		}
	}
}

// do returns the plan's answer and the expected one.
func (r *replay) do(v *vector) (got any, err error, want any, wantErr error) {
	switch v.Op {
	case "add":
		return r.add(v)
	case "rem":
		r.valid = false
		return 0, r.p.Remove(r.ids[v.Span]), 0, when(v.Expect != 0, ErrSpan)
	case "reduce":
		return r.reduce(v)
	case "update_total":
		r.totals, r.valid = []int64{v.Total}, false
		return 0, r.p.resize([]string{""}, r.totals), 0, nil
	case "update_totals":
		r.totals, r.valid = v.Totals, false
		return 0, r.p.resize(v.Types, r.totals), 0, nil
	case "reset":
		r.reset(v.BaseTime, v.Duration)
		return 0, nil, 0, nil
	case "avail_at":
		got, err := r.p.freeAt(v.T, v.TypeIndex)
		return got, err, v.Expect, when(v.Errno != "", ErrRange)
	case "avail_during":
		return r.availDuring(v)
	case "resources_during":
		got, err := r.p.freeDuring(v.Start, v.Duration)
		return got, err, v.Expect, when(v.Errno != "", ErrRange)
	case "first":
		return r.first(v)
	case "next":
		return r.next(v)
	case "span_count":
		return int64(r.p.Len()), nil, v.Expect, nil
	case "span_info":
		start, duration, amount, err := r.p.span(r.ids[v.Span])
		return [3]int64{start, duration, amount}, err, [3]int64{v.Start, v.Duration, v.Amount}, when(!v.Active, ErrSpan)
	}
	r.Fatalf("unknown operation %q", v.Op)
	return
}

func when(cond bool, err error) error {
	if cond {
		return err
	}
	return nil
}

// add: Flux returns EINVAL both for invalid spans and for those that do not fit.
func (r *replay) add(v *vector) (got any, err error, want any, wantErr error) {
	id, err := r.p.add(v.Start, v.Duration, v.amounts())
	switch {
	case v.ExpectIDOK:
		r.ids[v.Span] = id
		r.valid = false
	case r.meant(v.Start, v.Duration) && !r.excessive(v.amounts()):
		wantErr = ErrBusy
	default:
		wantErr = ErrRange
	}
	return 0, err, 0, wantErr
}

func (r *replay) meant(start, duration int64) bool {
	return start >= r.start && start < r.end && duration >= 1 && duration <= r.end-start
}

func (r *replay) excessive(amounts []int64) bool {
	for i, a := range amounts {
		if a > r.totals[i] {
			return true
		}
	}
	return false
}

func (r *replay) reduce(v *vector) (got any, err error, want any, wantErr error) {
	id, known := r.ids[v.Span]
	types := v.Types
	if types == nil {
		types = r.s.Types // a scenario of one quantity does not name it
	}
	err = r.p.reduce(id, types, v.amounts())
	_, _, _, gone := r.p.span(id)
	switch {
	case v.Errno == "":
		r.valid = false
		return gone != nil, err, v.Removed, nil
	case known && gone == nil:
		return 0, err, 0, ErrRange
	}
	return 0, err, 0, ErrSpan
}

// availDuring: Flux allows a window to begin before the plan in queries, but not in changes;
// here it is out of range for both.
func (r *replay) availDuring(v *vector) (got any, err error, want any, wantErr error) {
	fits, err := r.p.fits(v.Start, v.Duration, v.amounts())
	switch {
	case v.Start < r.start && v.Errno == "":
		r.early++
		wantErr = ErrRange
	case v.Errno != "" && v.Errno != "EBUSY":
		wantErr = ErrRange
	}
	return fits, err, v.Expect == 0, wantErr
}

func (r *replay) first(v *vector) (got any, err error, want any, wantErr error) {
	amounts := v.amounts()
	switch v.Errno {
	case "EINVAL", "ERANGE":
		wantErr = ErrRange // and an iteration under way goes on
	case "ENOENT":
		wantErr = ErrNoFit
		fallthrough
	default:
		r.last, r.at, r.valid = *v, v.ExpectT, true
	}
	if v.TrueT != nil {
		trueErr := wantErr
		if *v.TrueT >= 0 {
			trueErr = nil
		}
		t, err := r.p.earliest(v.After, v.Duration, amounts)
		if !errors.Is(err, trueErr) || err == nil && t != *v.TrueT {
			return t, err, *v.TrueT, trueErr
		}
	}
	t, err := r.p.change(v.After, v.Duration, amounts)
	return t, err, v.ExpectT, wantErr
}

// next: Flux's iterator ends with every change of the plan, and then returns EINVAL. Starts
// has no such state, so the replay keeps it.
func (r *replay) next(v *vector) (got any, err error, want any, wantErr error) {
	if !r.valid {
		return v.Errno, nil, "EINVAL", nil
	}
	at := int64(-1)
	if r.at >= 0 {
		for t := range r.p.starts(r.at, r.last.Duration, r.last.amounts()) {
			if t > r.at {
				at = t
				break
			}
		}
	}
	r.at = at
	return at, nil, v.ExpectT, nil
}
