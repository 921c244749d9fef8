package forecast

import (
	"testing"
)

func TestLikely(t *testing.T) {
	j := Job{User: "ann", Name: "fit", Asked: 1000, Size: 4}
	other := j
	other.Name = "run"
	longer := j
	longer.Asked = 2000
	for name, c := range map[string]struct {
		learn []Job
		ran   []int64
		of    Job
		so    int64 // it has run for so long
		want  int64
	}{
		"nothing":                {of: j, want: 1000},
		"too few":                {[]Job{j, j}, []int64{10, 20}, j, 0, 1000},
		"like jobs":              {[]Job{j, j, j, other, other}, []int64{10, 30, 20, 900, 900}, j, 0, 20},
		"other names":            {[]Job{j, j, other}, []int64{10, 30, 20}, j, 0, 20},
		"ratios":                 {[]Job{longer, longer, longer}, []int64{200, 400, 600}, j, 0, 200},
		"another user":           {[]Job{j, j, j}, []int64{10, 20, 30}, Job{User: "bob", Asked: 1000}, 0, 20},
		"another user and time":  {[]Job{j, j, j}, []int64{10, 20, 30}, Job{User: "bob", Asked: 500}, 0, 10},
		"longer than it has run": {[]Job{j, j, j, j}, []int64{10, 20, 300, 400}, j, 50, 300},
		"longer than all":        {[]Job{j, j, j}, []int64{10, 20, 30}, j, 500, 750},
		"never beyond asked":     {[]Job{j, j, j}, []int64{5000, 5000, 5000}, j, 0, 1000},
		"running, nothing known": {of: j, so: 999, want: 1000},
	} {
		var h History
		for i, l := range c.learn {
			h.Learn(l, c.ran[i])
		}
		if got := h.Likely(c.of, c.so); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestKeeps: the last twenty jobs of a kind count.
func TestKeeps(t *testing.T) {
	var h History
	j := Job{User: "ann", Asked: 1000}
	for range 30 {
		h.Learn(j, 10)
	}
	for range 11 {
		h.Learn(j, 500)
	}
	if got := h.Likely(j, 0); got != 500 {
		t.Errorf("%d", got)
	}
}

func TestRecord(t *testing.T) {
	var r Record
	p := Plays{Now: 0, Asked: 2000, Drawn: 1000}
	for i := range Enough - 1 {
		r.Learn(Outcome{User: string(rune('a' + i)), Plays: p, Forecast: Forecast{Safe: 1500},
			Start: 1000 + int64(i)*10})
	}
	if got := r.Of(p); got != (Forecast{1000, 2000, 2000}) {
		t.Errorf("of few outcomes: %+v", got)
	}
	for range 10 {
		r.Learn(Outcome{User: "one", Plays: p, Forecast: Forecast{Safe: 1500}, Start: 1900})
	}
	if r.Len() != Enough-1+perUser || r.Kept() != Enough-1 {
		t.Errorf("%d outcomes, %d kept", r.Len(), r.Kept())
	}
	got := r.Of(p)
	if got.Likely != 1160 || got.Safe <= got.Likely || got.Safe > 2000 {
		t.Errorf("%+v", got)
	}
	if late := r.Of(Plays{Now: 1500, Asked: 2500, Drawn: 1000}); late.Likely < 1500 || late.Safe < late.Likely {
		t.Errorf("before now: %+v", late)
	}
	var one Record
	for i := range 300 {
		one.Learn(Outcome{User: "ann", Plays: p, Forecast: Forecast{}, Start: 1000 + int64(i)})
	}
	if one.Len() != outcomes {
		t.Errorf("one user: %d outcomes", one.Len())
	}
}
