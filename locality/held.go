package locality

import "slices"

// The files that a host holds are spans in order, with gaps between them.

// addFiles adds files to those held, and returns the ones that were missing.
func addFiles(held []Span, s Span) (now, missing []Span) {
	missing = without([]Span{s}, held)
	now = append(slices.Clone(held), missing...)
	slices.SortFunc(now, func(x, y Span) int { return x.A - y.A })
	out := now[:0]
	for _, x := range now {
		if n := len(out); n > 0 && out[n-1].B+1 == x.A {
			out[n-1].B = x.B
			continue
		}
		out = append(out, x)
	}
	return out, missing
}

// without returns the files in spans that are not in others.
func without(spans, others []Span) []Span {
	var out []Span
	for _, s := range spans {
		for _, x := range others {
			if x.B < s.A || x.A > s.B {
				continue
			}
			if x.A > s.A {
				out = append(out, Span{s.A, x.A - 1})
			}
			if s.A = x.B + 1; s.A > s.B {
				break
			}
		}
		if s.A <= s.B {
			out = append(out, s)
		}
	}
	return out
}

// count returns how many files the spans have.
func count(spans []Span) int {
	n := 0
	for _, s := range spans {
		n += s.B - s.A + 1
	}
	return n
}

// deletable lists what a host may delete: files that no unfinished job of its range uses, and
// none of the jobs that it has. The host may keep Settings.Keep of them, the nearest to where
// it works.
func (o *Op) deletable(m *Member) ([]Span, error) {
	var needed []Span
	for _, slot := range m.Live {
		n, _ := o.Batch.JobOf(slot)
		j, err := o.job(n)
		if err != nil {
			return nil, err
		}
		needed, _ = addFiles(needed, Span{j.A, j.B})
	}
	if m.Placed {
		c, err := o.CursorAt(m.At)
		if err != nil {
			return nil, err
		}
		if c.Unfinished <= c.Top {
			s, err := o.filesOf(c.Unfinished, c.Top)
			if err != nil {
				return nil, err
			}
			needed, _ = addFiles(needed, s)
		}
	}
	if len(m.Held) == 0 {
		return nil, nil
	}
	spare := without(m.Held, needed)
	return farthest(spare, needed, count(spare)-o.Batch.Settings.Keep), nil
}

// filesOf returns the files from the first one that slot first uses to the last one used up to
// slot last.
func (o *Op) filesOf(first, last int) (Span, error) {
	from, _ := o.Batch.JobOf(first)
	to, _ := o.Batch.JobOf(last)
	j, err := o.job(from)
	if err != nil {
		return Span{}, err
	}
	reach, err := o.reach(to + 1)
	return Span{j.A, reach}, err
}

// farthest returns the n files that are farthest from the needed ones.
func farthest(spare, needed []Span, n int) []Span {
	var out []Span
	spare = slices.Clone(spare)
	for n > 0 && len(spare) > 0 {
		low, high := 0, 1
		if len(needed) > 0 {
			low, high = needed[0].A-spare[0].A, spare[len(spare)-1].B-needed[len(needed)-1].B
		}
		if low >= high {
			s := &spare[0]
			take := min(n, s.B-s.A+1)
			out = append(out, Span{s.A, s.A + take - 1})
			n -= take
			if s.A += take; s.A > s.B {
				spare = spare[1:]
			}
			continue
		}
		s := &spare[len(spare)-1]
		take := min(n, s.B-s.A+1)
		out = append(out, Span{s.B - take + 1, s.B})
		n -= take
		if s.B -= take; s.A > s.B {
			spare = spare[:len(spare)-1]
		}
	}
	slices.SortFunc(out, func(x, y Span) int { return x.A - y.A })
	return out
}
