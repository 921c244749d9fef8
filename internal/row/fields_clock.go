package row

// Rewound says how far the clock goes back: from the file's instant Was to To, both in Unix
// seconds. Ended maps jobs to the ends of their latest attempts.
type Rewound struct {
	To, Was int64
	Ended   map[uint64]int64
	by      int64 // if not 0, how far all instants move, whatever they mean to the clock
}

// rewound is the state of a list that sets a row's instants back.
type rewound struct {
	Rewound
	by      int64 // how far the latest Past or Begins has moved
	changed bool
}

// at returns the new value of an instant. 0 means none.
func (r *rewound) at(t int64, is Clock) int64 {
	before := t
	switch {
	case r.Rewound.by != 0:
		if t != 0 {
			t += r.Rewound.by
		}
	case t == 0 && is != Ends:
		if is != Shifts {
			r.by = 0
		}
	case is == Past:
		t = min(t, r.To)
		r.by = before - t
	case is == Begins: // plans begin at their planned start
		if r.by = 0; t > r.To && t <= r.Was {
			t, r.by = r.To, t-r.To
		}
	case is == Ends:
		if t > r.To && t <= r.Was {
			t = r.To
		} else {
			t -= r.by
		}
	case is == Shifts && r.by > 0 && t > r.To:
		t = max(t-r.by, r.To)
	case is == Lapses && t > r.Was:
		t = 0
	}
	r.changed = r.changed || t != before
	return t
}

func (r *rewound) passed(v *int64, since int64) {
	if most := max(0, r.To-since); *v > most {
		*v, r.changed = most, true
	}
}

// Since gives the instant that the next Shifts counts from, if that is listed after it.
func (f *Fields) Since(t int64) {
	if f.dir == timing {
		f.clock.by = max(0, t-f.clock.To)
	}
}

// sinceAttempt lets the next Shifts of a job count from the end of its latest attempt.
func (f *Fields) sinceAttempt(job uint64) {
	if f.dir == timing {
		f.Since(f.clock.Ended[job])
	}
}

// rewind sets the instants of the value back, and reports whether that changed any.
func (v visit) rewind(to Rewound) (changed bool) {
	r := &rewound{Rewound: to}
	v(&Fields{dir: timing, form: r, clock: r})
	return r.changed
}

func (r *rewound) open(_ string, _, there bool) bool { return there }
func (r *rewound) list(_ string, n int) int          { return n }
func (r *rewound) plain(_, _ string, _ any)          {}
func (r *rewound) end()                              {}
func (r *rewound) next()                             {}
