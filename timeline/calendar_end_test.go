package timeline

import "testing"

// A running job has its node until it releases it: from its end on, it is assumed to end a
// grace from now.
func TestCalendarEnd(t *testing.T) {
	c := NewCalendar(nil, 100, 30)
	for _, tt := range []struct {
		what string
		busy Busy
		want int64
	}{
		{"a job that runs", Busy{Start: 50, End: 101, Held: true}, 101},
		{"a job that should end now", Busy{Start: 50, End: 100, Held: true}, 130},
		{"a job that is overdue", Busy{Start: 50, End: 99, Held: true}, 130},
		{"a reservation that ends now", Busy{Start: 50, End: 100}, 100},
	} {
		if got := c.End(tt.busy); got != tt.want {
			t.Errorf("%s ends at %d, want %d", tt.what, got, tt.want)
		}
	}
}
