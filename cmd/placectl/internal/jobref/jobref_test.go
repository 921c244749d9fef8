package jobref

import (
	"fmt"
	"testing"

	"github.com/placectl/placectl/store"
)

// arrays has one array, 20, whose jobs have the indices 3, 4 and 7.
type arrays struct{}

func (arrays) Array(array uint64) ([]*store.Job, error) {
	if array != 20 {
		return nil, store.ErrNotFound
	}
	return []*store.Job{job(20, 20, 3), job(21, 20, 4), job(22, 20, 7)}, nil
}

// Named knows a job, two jobs with one name, and the array, whose first job has ended.
func (arrays) Named(name string) ([]*store.Job, error) {
	return map[string][]*store.Job{"one": {job(5, 0, 0)}, "two": {job(5, 0, 0), job(9, 0, 0)}, "many": {job(21, 20, 4), job(22, 20, 7)}}[name], nil
}

// job returns a job, of an array unless that is 0.
func job(id, array uint64, index int) *store.Job {
	j := new(store.Job)
	j.ID, j.Array, j.Index = id, array, index
	return j
}

// TestNamed: which words name jobs, and which do not.
func TestNamed(t *testing.T) {
	for word, want := range map[string]string{
		"12": "[12]", "12-14": "[12 13 14]", "20[]": "[20 21 22]", "20[4]": "[21]", "20[4-7]": "[21 22]", "20[7,3-4]": "[22 20 21]", "20[3,8]": "20[3,8]: array 20 has indices 3 to 7", "20[3,]": "20[3,]: array 20 has indices 3 to 7",
		"0":       "0 is not a job number (12), a range of them (12-15), of an array (12[], 12[3]), nor a job's name",
		"14-12":   "14-12 is not a job number (12), a range of them (12-15), of an array (12[], 12[3]), nor a job's name",
		"20[4":    "20[4 is not a job number (12), a range of them (12-15), of an array (12[], 12[3]), nor a job's name",
		"20[2-3]": "20[2-3]: array 20 has indices 3 to 7",
		"20[8]":   "20[8]: array 20 has indices 3 to 7",
		"20[5-6]": "20[5-6]: array 20 has no such index between 3 and 7",
		"21[]":    "not found",
		"one":     "[5]",
		"many":    "[20 21 22]",
		"many[4]": "[21]",
		"one[4]":  "one[4]: job 5 is not an array",
		"two":     "2 jobs have the name two: 5, 9; give a number",
		"none":    "not found: no job has the name none",
		"12x":     "12x is not a job number (12), a range of them (12-15), of an array (12[], 12[3]), nor a job's name",
	} {
		ids, err := Named(arrays{}, word)
		got := fmt.Sprint(ids)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("Named(%s) = %s, want %s", word, got, want)
		}
	}
	if id, err := One(arrays{}, "20[7]"); id != 22 || err != nil {
		t.Errorf("One(20[7]) = %d, %v, want 22", id, err)
	}
	if _, err := One(arrays{}, "12-13"); err == nil || err.Error() != "12-13 names 2 jobs; name one" {
		t.Errorf("One(12-13) fails with %v, want 12-13 names 2 jobs; name one", err)
	}
}
