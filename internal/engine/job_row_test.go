package engine

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"pgregory.net/rapid"
)

// A job as callers see it has all of its row.
func TestJobsAreTheirRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := rapid.Make[row.Job]().Draw(t, "job")
		j.Walltime, j.Idle = j.Walltime%kernel.MaxWalltime, j.Idle%kernel.MaxWalltime
		j.Attempt = j.CurrentAttempt() // one that runs is at its first, if its row does not say so
		if diff := cmp.Diff(j, kernel.JobOf(&j).Row(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("-row +the same as a job and back\n%s", diff)
		}
	})
	if none := kernel.JobOf(new(row.Job)); !reflect.DeepEqual(none, new(Job)) {
		t.Errorf("a job without anything is %+v", none)
	}
}

// TestJobSize: a job fits the allocator's class of 896 bytes. Fields of one byte stand together for that.
func TestJobSize(t *testing.T) {
	if size := unsafe.Sizeof(Job{}); size > 896 {
		t.Errorf("a job takes %d bytes", size)
	}
}
