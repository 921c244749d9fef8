package locality

import "slices"

// maxEnd is how far in the future an estimated end may be, in seconds.
const maxEnd = 100 * 365 * Day

// State returns the state of the batch in a word: new, running or finished.
func (b *Batch) State() string {
	switch {
	case b.Over():
		return "finished"
	case b.Remaining == b.Total && b.Transfers == 0:
		return "new"
	}
	return "running"
}

// End returns when the batch ended, or when it may end with the hosts that work in it now. It
// is 0 if that is unknown.
func (b *Batch) End(now int64) int64 {
	if b.Over() {
		return b.Ended
	}
	if left := b.TimeLeft(); b.State() == "running" && left < maxEnd {
		return now + int64(left)
	}
	return 0
}

// Left returns the estimated seconds until all of a range is finished; ok is false if that is
// unknown.
func (c *Cursor) Left() (left int64, ok bool) {
	s := c.TimeLeft()
	return int64(min(s, maxEnd)), c.Rate() > 0 && s < maxEnd
}

// State returns the state of a job in a word: that of its least advanced slot.
func (t *Task) State(j *Job) string {
	slots := t.Slots[:min(len(t.Slots), max(0, j.Quorum))]
	switch {
	case slices.Contains(slots, Failed):
		return "failed"
	case slices.Contains(slots, Unsent):
		return "unsent"
	case slices.Contains(slots, Sent):
		return "sent"
	case slices.Contains(slots, Ungenerated) || len(slots) < j.Quorum:
		return "ungenerated"
	}
	return "done"
}

// Progress says how far a range is, in jobs. If no job is left, the job is the one after the
// last.
type Progress struct {
	First, Last int
	Result      int // which result of a job, from 1, if jobs have several; 0: all of them
	Unfinished  int // the first
	Ungenerated int // the first
}

// Progress returns the progress of a range.
func (b *Batch) Progress(c *Cursor) Progress {
	var p Progress
	var layer int
	p.First, layer = b.JobOf(c.First)
	p.Last, _ = b.JobOf(c.Last)
	if b.Layered && b.Layers > 1 {
		p.Result = layer + 1
	}
	p.Unfinished, p.Ungenerated = p.Last+1, p.Last+1
	if c.Unfinished <= c.Last {
		p.Unfinished, _ = b.JobOf(c.Unfinished)
	}
	if c.Generated <= c.Last {
		p.Ungenerated, _ = b.JobOf(c.Generated)
	}
	return p
}

// Credits converts micro-credits to credits.
func Credits(c Credit) float64 { return float64(c) / Micro }

// DonePart returns the part of the credit that is done, from 0 to 1.
func (b *Batch) DonePart() float64 { return portion(b.Total-b.Remaining, b.Total) }

// TransferRatio returns how many transfers there were for each necessary one.
func (b *Batch) TransferRatio() float64 { return portion(int64(b.Transfers), int64(b.Bound)) }

// portion returns a divided by b, to four places.
func portion(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a*10000/b) / 10000
}
