package row

import (
	"math"
	"slices"

	"github.com/placectl/placectl/placer/subject"
	"github.com/placectl/placectl/timeline"
)

// UsageBlock holds the used cpu-seconds of 64 nodes.
type UsageBlock [timeline.BlockNodes]int64

const usageVersion = 1

// usageFields lists the nodes with use.
func usageFields(f *Fields, b *UsageBlock) {
	f.Version(usageVersion)
	switch f.dir {
	case writing:
		for i, n := range b {
			if n != 0 {
				f.b = append(f.b, byte(i))
				f.ivar(n)
			}
		}
	case reading:
		for len(f.b) > 0 {
			at := f.takeByte() % timeline.BlockNodes
			b[at] = f.ivar(0)
		}
	default:
		Counts(f, "", b[:])
	}
}

// UsageRow is the row of a block of nodes.
var UsageRow = Kind[UsageBlock]{Usage, usageFields}

// Decayed is the past and present use by the jobs of one user, group, account, class and queue, with decay:
// older use counts half for each half-life. It holds for an instant, and moves to a later one in one step: see Move.
type Decayed struct {
	At   int64 // Unix seconds
	Uses []DecayedUse
}

// DecayedUse is the decayed use of one resource or pool, or of "nodes".
type DecayedUse struct {
	Name  string
	Value float64 // units x seconds
	Rate  int64   // held now, in the resource's own unit
	One   int64   // number of those in one unit
}

// Move moves the use to a later instant. After d seconds, a value v with a rate r is
// v*2^(-d/H) + r*H/ln 2*(1-2^(-d/H)).
func (x *Decayed) Move(to, halfLife int64) {
	d := float64(to - x.At)
	if d <= 0 {
		return
	}
	x.At = to
	for i := range x.Uses {
		u := &x.Uses[i]
		u.Value = u.Value*math.Exp2(-d/float64(halfLife)) + u.rate()*grown(d, halfLife)
	}
}

// Of returns the value for a resource, a pool or "nodes".
func (x *Decayed) Of(name string) float64 {
	for _, u := range x.Uses {
		if u.Name == name {
			return u.Value
		}
	}
	return 0
}

func (u *DecayedUse) rate() float64 { return float64(u.Rate) / float64(max(u.One, 1)) }

// grown returns the value of a rate of one after d seconds.
func grown(d float64, halfLife int64) float64 {
	tau := float64(halfLife) / math.Ln2
	return -tau * math.Expm1(-d/tau)
}

// Turn changes the rate of a resource from an instant on, which may be past.
func (x *Decayed) Turn(name string, by, one, at, halfLife int64) {
	if x.At == 0 {
		x.At = at
	}
	x.Move(at, halfLife)
	i := slices.IndexFunc(x.Uses, func(u DecayedUse) bool { return u.Name == name })
	if i < 0 {
		i = len(x.Uses)
		x.Uses = append(x.Uses, DecayedUse{Name: name, One: one})
	}
	u := &x.Uses[i]
	u.Rate += by
	u.Value += float64(by) / float64(max(one, 1)) * grown(float64(x.At-at), halfLife)
}

// DecayedKey returns the key of such use.
func DecayedKey(who subject.Names) []byte { return appendNames(nil, subject.Shared, who) }

// SplitDecayedKey splits such a key.
func SplitDecayedKey(key []byte) (subject.Names, error) {
	d := Reader{B: key}
	who := d.names(subject.Shared)
	d.Bad = d.Bad || len(d.B) > 0
	return who, d.done(Decays, key)
}

func decayedFields(f *Fields, x *Decayed) {
	f.Version(1)
	f.At("at", &x.At, Made)
	for i := range Items(f, "uses", &x.Uses) {
		u := &x.Uses[i]
		f.Text("name", &u.Name)
		f.Float("value", &u.Value)
		Int(f, "rate", &u.Rate)
		Int(f, "one", &u.One)
		f.Must(!math.IsNaN(u.Value) && !math.IsInf(u.Value, 0) && u.One >= 1)
		f.Next()
	}
	if f.dir == reading {
		_, err := SplitDecayedKey(f.key)
		f.Must(err == nil)
	}
}

// DecayedRow is the row of such use.
var DecayedRow = Kind[Decayed]{Decays, decayedFields}

// PastRun holds what forecasts learn from an ended job that is no longer in the file.
type PastRun struct {
	Job        uint64
	User, Name string
	Asked      int64 // its walltime in seconds
	Size       int64 // its cpus
	End        int64
	Ran        int64 // seconds
}

func pastRunFields(f *Fields, p *PastRun) {
	f.Version(1)
	KeyPart(f, "job", 0, 8, 8, &p.Job)
	f.Text("user", &p.User)
	f.Text("name", &p.Name)
	Int(f, "asked", &p.Asked)
	Int(f, "size", &p.Size)
	f.At("end", &p.End, Past)
	Int(f, "ran", &p.Ran)
	f.Must(p.Asked > 0 && p.Ran >= 0)
}

// PastRunRow is the row of a past run.
var PastRunRow = Kind[PastRun]{PastRuns, pastRunFields}
