package store

import (
	"bytes"
	"strconv"
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
)

// TestSignedLines: each job of an array with a line for each is signed by itself, for its line,
// and so is the job that does it once more; equal jobs of an array have one signature.
func TestSignedLines(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 1, 1)
	signed := 0
	sign := func(text []byte) ([]byte, error) {
		signed++
		return append([]byte(strconv.Itoa(len(text))+":"), text...), nil
	}
	payload := &Payload{Dir: "/", Env: []string{"A=b"}}
	ask := placer.Request{Select: "1:ncpus=1", Walltime: time.Hour}
	each := []Element{{Command: []string{"echo", "a"}, Line: "a"}, {Command: []string{"echo"}, Line: "b"}, {Command: []string{"echo", "b"}, Line: "c"}}
	texts := make(map[string]bool)
	verify := func(tx *Tx, jobs []*Job, distinct int) {
		t.Helper()
		before := len(texts)
		for _, j := range jobs {
			text, signature, err := tx.Signed(j.ID)
			if want, _ := sign(text); err != nil || !bytes.Equal(signature, want) {
				t.Errorf("job %d: %q is signed, and %q should be: %v", j.ID, signature, text, err)
			}
			texts[string(text)] = true
		}
		if len(texts) != before+distinct {
			t.Errorf("%d jobs have %d texts, want %d", len(jobs), len(texts)-before, distinct)
		}
	}
	err := db.Update(func(tx *Tx) error {
		jobs, err := tx.Submit(Submission{Request: ask, Each: each, Payload: payload, Sign: sign})
		if err != nil {
			return err
		}
		verify(tx, jobs, 3)
		signed = 0
		plain, err := tx.Submit(Submission{Request: ask, Array: 3, Command: []string{"true"}, Payload: payload, Sign: sign})
		if err != nil {
			return err
		}
		if signed != 1 {
			t.Errorf("an array of equal jobs was signed %d times", signed)
		}
		verify(tx, plain, 1)
		for _, j := range jobs[:2] {
			if _, err := tx.Cancel(j.ID, ""); err != nil {
				return err
			}
		}
		again, err := tx.Retry([]uint64{jobs[1].ID, jobs[0].ID}, sign)
		if err != nil {
			return err
		}
		verify(tx, again, 2)
		if a, b := again[0], again[1]; a.RetryOf != jobs[0].ID || a.Line != "a" || b.Line != "b" || b.Index != 1 || b.Array != a.ID {
			t.Errorf("%+v\n%+v", a, b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// A line is no word of a command.
	text := func(j Job) string {
		r := j.row()
		return string(signedText("id", &r, nil))
	}
	if text(Job{ID: 1, Command: []string{"a"}, Line: "b"}) == text(Job{ID: 1, Command: []string{"a", "b"}}) {
		t.Error("a line can stand for a word")
	}
}
