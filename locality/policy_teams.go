package locality

import (
	"math"
	"slices"
)

// teams is the original policy: ranges of equal credit that never change, each for a team of hosts, and
// moves between them. Slots go job by job, and all hosts work at the low end.
type teams struct{}

func (teams) layered() bool                                 { return false }
func (teams) backRange(c *Cursor, _ Side) (first, last int) { return c.First, c.Last }
func (teams) most(*Op, *Member, *Cursor) Credit             { return math.MaxInt64 }

// place sends a host where the most time is left.
func (teams) place(o *Op, m *Member, tried []int) error {
	var to *Cursor
	err := o.Longest(func(c *Cursor) (bool, error) {
		if slices.Contains(tried, c.First) {
			return true, nil
		}
		to = c
		return false, nil
	})
	if err != nil || to == nil {
		return err
	}
	return o.enter(m, to, LowEnd)
}

// cuts makes one range for each team, at equal credit, each beginning with the first job of a file.
func (teams) cuts(o *Op) ([]int, error) {
	b := o.Batch
	k := max(1, min(b.Settings.Hosts/b.Settings.Team, b.Used, b.Jobs/b.Settings.LeastJobs))
	starts := []int{0}
	total, err := o.before(0, b.Jobs)
	if err != nil {
		return nil, err
	}
	for i := 1; i < k; i++ {
		job, err := o.seek(0, Credit(float64(total)*float64(i)/float64(k)))
		if err != nil {
			return nil, err
		}
		if job, err = o.nextFile(job); err != nil {
			return nil, err
		}
		if slot := b.Slot(job, 0); job < b.Jobs && slot > starts[len(starts)-1] {
			starts = append(starts, slot)
		}
	}
	return starts, nil
}

// nextFile returns the first job from this one on that begins a file.
func (o *Op) nextFile(job int) (int, error) {
	if job == 0 || job >= o.Batch.Jobs {
		return job, nil
	}
	before, err := o.job(job - 1)
	if err != nil {
		return 0, err
	}
	for ; job < o.Batch.Jobs; job++ {
		j, err := o.job(job)
		if err != nil || j.A > before.A {
			return job, err
		}
	}
	return job, nil
}

// stays reports whether a host stays in its range, rather than moving to the one with the most
// time left. It moves only if that range has over twice as much time left. The move must also
// leave another host behind, or no work, and not more time left here than there. Without the
// last condition, small teams do nothing but move.
func (teams) stays(o *Op, m *Member) (bool, error) {
	c, err := o.CursorAt(m.At)
	if err != nil || c.Waiting() == 0 {
		return false, err
	}
	longest := 0.0
	err = o.Longest(func(d *Cursor) (bool, error) {
		longest = d.TimeLeft()
		return false, nil
	})
	if err != nil || c.TimeLeft() >= longest/2 || c.Hosts() == 1 {
		return true, err
	}
	return seconds(c.Remaining(), c.Rate()-m.Rate) >= longest, nil
}
