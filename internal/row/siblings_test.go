package row

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/placectl/placectl/index/devices"
)

// TestSiblings: two rows of jobs are siblings if they only differ in what is each job's own.
func TestSiblings(t *testing.T) {
	t.Parallel()
	own := []string{"ID", "Index"}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	fields := slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[Job]()), func(f reflect.StructField) bool {
		return f.Anonymous
	})
	same := 0
	for range 20_000 {
		a := new(Job)
		fill(r, reflect.ValueOf(a).Elem())
		a.Chunks, a.Devices, a.State, a.Bind = nil, nil, JobQueued, devices.Policy(r.IntN(3))
		if len(a.Pools) == 0 {
			a.PoolsWithin = 0
		}
		if r.IntN(2) == 0 {
			a.RetryOf = 0
		}
		b := *a
		field := fields[r.IntN(len(fields))]
		if slices.Contains([]string{"Chunks", "Devices", "Pools", "PoolsWithin"}, field.Name) {
			continue
		}
		fill(r, reflect.ValueOf(&b).Elem().FieldByIndex(field.Index))
		b.State, b.Bind = max(JobState(1), min(b.State, JobRunning)), b.Bind%3
		pa, pb := EncodeJob(a), EncodeJob(&b)
		s, ok := SiblingsOf(pa, a)
		if !ok {
			continue
		}
		eachOwn := slices.Contains(own, field.Name) || field.Name == "Command" &&
			(len(a.Command) > 0) == (len(b.Command) > 0) || a.Line != "" && b.Line != "" && (field.Name == "Line" ||
			field.Name == "Signature" && len(a.Signature) > 0 && len(b.Signature) > 0)
		if got, want := s.Has(pb), eachOwn || bytes.Equal(pa, pb); got != want {
			t.Fatalf("%s differs: a sibling: %v\n%+v\n%+v", field.Name, got, a, b)
		}
		if eachOwn && !bytes.Equal(pa, pb) {
			same++
		}
	}
	if same < 20 {
		t.Errorf("%d siblings differed", same)
	}
}
