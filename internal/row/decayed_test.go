package row

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// TestDecayedInSteps: one step or many give the same, and so does a change that is reported
// late.
func TestDecayedInSteps(t *testing.T) {
	t.Parallel()
	close := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }
	rapid.Check(t, func(rt *rapid.T) {
		half := rapid.Int64Range(1, 100*86400).Draw(rt, "half-life")
		whole, steps, late := &Decayed{}, &Decayed{}, &Decayed{}
		at := int64(1_000_000)
		exact := 0.0 // what each change has come to by the end
		type change struct{ at, by int64 }
		var changes []change
		for range rapid.IntRange(1, 6).Draw(rt, "changes") {
			by := rapid.Int64Range(-5, 50).Draw(rt, "by")
			changes = append(changes, change{at, by})
			whole.Turn("ncpus", by, 1, at, half)
			steps.Turn("ncpus", by, 1, at, half)
			d := rapid.Int64Range(0, 40*86400).Draw(rt, "seconds")
			for range rapid.IntRange(0, 200).Draw(rt, "steps") {
				steps.Move(steps.At+d/200, half)
			}
			at += d
		}
		late.Turn("ncpus", 0, 1, 1_000_000, half)
		late.Move(at, half)
		for _, c := range changes {
			late.Turn("ncpus", c.by, 1, c.at, half)
			exact += float64(c.by) * float64(half) / math.Ln2 * -math.Expm1(-float64(at-c.at)*math.Ln2/float64(half))
		}
		for name, x := range map[string]*Decayed{"whole": whole, "steps": steps, "late": late} {
			x.Move(at, half)
			if got := x.Uses[0].Value; !close(got, exact) {
				rt.Errorf("%s: %v, want %v", name, got, exact)
			}
		}
	})
}

// TestDecayedMillion: a million steps give the same as one.
func TestDecayedMillion(t *testing.T) {
	t.Parallel()
	one, many := &Decayed{}, &Decayed{}
	for _, x := range []*Decayed{one, many} {
		x.Turn("ncpus", 7, 1, 1000, 7*86400)
		x.Uses[0].Value = 12345.678
	}
	for range 1_000_000 {
		many.Move(many.At+3, 7*86400)
	}
	one.Move(1000+3_000_000, 7*86400)
	if a, b := one.Uses[0].Value, many.Uses[0].Value; math.Abs(a-b) > 1e-9*a {
		t.Errorf("one step comes to %v, a million to %v", a, b)
	}
}

// TestDecayedAsSlurm compares with what a Slurm has kept of its use a minute later.
func TestDecayedAsSlurm(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/decay.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := 0
	for lines := bufio.NewScanner(f); lines.Scan(); rows++ {
		var c struct {
			HalfLife  int64 `json:"half_life"`
			After     int64 `json:"after_s"`
			Pairs     [][2]float64
			Tolerance float64
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		for _, p := range c.Pairs {
			x := &Decayed{At: 1000, Uses: []DecayedUse{{Name: "ncpus", Value: p[0], One: 1}}}
			x.Move(1000+c.After, c.HalfLife)
			if got := x.Uses[0].Value; math.Abs(got-p[1]) > c.Tolerance {
				t.Errorf("%v after %d s is %v, Slurm has %v", p[0], c.After, got, p[1])
			}
		}
	}
	if rows == 0 {
		t.Error("no rows")
	}
}
