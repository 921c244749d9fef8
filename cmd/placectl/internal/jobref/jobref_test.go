package jobref

import (
	"errors"
	"fmt"
	"testing"

	"github.com/placectl/placectl/internal/engine"
)

// arrays has one array, 20, whose jobs 21 to 23 have the indices 3, 4 and 7.
type arrays struct{}

func (arrays) Get(id uint64) (*engine.Job, error) { return job(id, 0, 0, "ann"), nil }

func (arrays) IsArray(number uint64) (bool, error) { return number == 20, nil }

func (arrays) Array(array uint64) ([]*engine.Job, error) {
	if array != 20 {
		return nil, engine.ErrNotFound
	}
	first := job(21, 20, 3, "ann")
	first.State = engine.JobRunning
	return []*engine.Job{first, job(22, 20, 4, "ann"), job(23, 20, 7, "ann")}, nil
}

// Named knows a job, several jobs with one name, of one user and of two, and the array, whose first job
// has ended.
func (arrays) Named(name string, _ bool) ([]*engine.Job, error) {
	return map[string][]*engine.Job{
		"one":    {job(5, 0, 0, "ann")},
		"two":    {job(9, 0, 0, "ann"), job(5, 0, 0, "ann")},
		"mixed":  {job(5, 0, 0, "ann"), job(9, 0, 0, "bob")},
		"theirs": {job(5, 0, 0, "bob"), job(9, 0, 0, "bob")},
		"many":   {job(22, 20, 4, "ann"), job(23, 20, 7, "ann")},
		"spread": {job(23, 20, 7, "ann"), job(5, 0, 0, "ann"), job(22, 20, 4, "ann")},
	}[name], nil
}

// job returns a user's waiting job, of an array unless that is 0.
func job(id, array uint64, index int, user string) *engine.Job {
	j := new(engine.Job)
	j.ID, j.Array, j.Index, j.User, j.State = id, array, index, user, engine.JobQueued
	return j
}

const notAJob = " is not the number of a job or an array (12), a range (12-15), a job of an array (12[3]), nor " +
	"a job's name"

// TestTargets: which words name jobs and arrays, and which do not. A range passes over the number of an
// array.
func TestTargets(t *testing.T) {
	for word, want := range map[string]string{
		"12": "[12]", "12-14": "[12 13 14]", "20": "[20 array]", "20[]": "[20 array]", "19-22": "[19 21 22]",
		"20-21": "[21]",
		"20[4]": "[22]", "20[4-7]": "[22 23]", "20[7,3-4]": "[23 21 22]",
		"20[3,8]": "20[3,8]: array 20 has indices 3 to 7",
		"20[3,]":  "20[3,]: array 20 has indices 3 to 7",
		"20[2-3]": "20[2-3]: array 20 has indices 3 to 7",
		"20[8]":   "20[8]: array 20 has indices 3 to 7",
		"20[5-6]": "20[5-6]: array 20 has no such index between 3 and 7",
		"0":       "0" + notAJob,
		"14-12":   "14-12" + notAJob,
		"20[4":    "20[4" + notAJob,
		"12x":     "12x" + notAJob,
		"21[]":    "not found",
		"one":     "[5]",
		"many":    "[20 array]",
		"many[4]": "[22]",
		"mixed":   "[5]",
		"one[4]":  "one[4]: job 5 is not an array",
		"two":     "2 jobs have the name two: 5, 9; give a number",
		"theirs":  "2 jobs have the name theirs: 5, 9; give a number",
		"spread":  "2 jobs have the name spread: 5, 20; give a number",
		"none":    "not found: no job has the name none",
	} {
		if got := shown(Names{In: arrays{}, Self: "ann"}.Targets(word)); got != want {
			t.Errorf("Targets(%s) = %s, want %s", word, got, want)
		}
	}
	several := Names{In: arrays{}, Self: "ann", Several: true}
	for word, want := range map[string]string{"two": "[5 9]", "spread": "[5 20 array]", "mixed": "[5]",
		"theirs":    "2 jobs have the name theirs: 5, 9; give a number",
		"spread[4]": "2 jobs have the name spread: 5, 20; give a number"} {
		if got := shown(several.Targets(word)); got != want {
			t.Errorf("for several, Targets(%s) = %s, want %s", word, got, want)
		}
	}
}

func shown(found []Target, err error) string {
	if err != nil {
		return err.Error()
	}
	words := make([]string, len(found))
	for i, t := range found {
		if words[i] = t.String(); t.Array {
			words[i] += " array"
		}
	}
	return fmt.Sprint(words)
}

// TestOne: a word for one job is not that of an array, nor a range.
func TestOne(t *testing.T) {
	names := Names{In: arrays{}, Self: "ann"}
	for word, want := range map[string]string{"20[7]": "23", "12": "12", "one": "5",
		"20":    "20 is an array of 3 jobs; name one, such as 20[3]",
		"many":  "many is an array of 3 jobs; name one, such as 20[3]",
		"12-13": "12-13 names 2 jobs; name one"} {
		id, err := names.One(word)
		if got := shown([]Target{{Number: id}}, err); got != want && got != "["+want+"]" {
			t.Errorf("One(%s) = %s, want %s", word, got, want)
		}
	}
	if id, err := names.Next("20"); id != 22 || err != nil {
		t.Errorf("Next(20) = %d, %v, want 22, the first that waits", id, err)
	}
	if array, err := names.Array("many"); array != 20 || err != nil {
		t.Errorf("Array(many) = %d, %v, want 20", array, err)
	}
	if _, err := names.Array("12"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("Array(12) fails with %v, want that there is no such array", err)
	}
	if _, err := names.Array("one"); err == nil || err.Error() != "one: job 5 is not an array" {
		t.Errorf("Array(one) fails with %v", err)
	}
}
