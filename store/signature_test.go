package store

import (
	"bytes"
	"testing"

	"github.com/placectl/placectl/store/internal/row"
)

// TestSignedText: a signature is of all that decides what is executed and for which job, so that it is
// good for no other one.
func TestSignedText(t *testing.T) {
	job := row.Job{ID: 7, Command: []string{"sh", "x"}}
	text := signedText("id", &job, []byte("sum"))
	for what, other := range map[string][]byte{
		"another database": signedText("it", &job, []byte("sum")),
		"another job":      signedText("id", &row.Job{ID: 8, Command: job.Command}, []byte("sum")),
		"an array":         signedText("id", &row.Job{ID: 7, Array: 6, Command: job.Command}, []byte("sum")),
		"a line":           signedText("id", &row.Job{ID: 7, Line: "x", Command: []string{"sh"}}, []byte("sum")),
		"another script":   signedText("id", &job, []byte("mus")),
		"no script":        signedText("id", &job, nil),
		"another command":  signedText("id", &row.Job{ID: 7, Command: []string{"shx"}}, []byte("sum")),
		"joined words":     signedText("id", &row.Job{ID: 7, Command: []string{"s", "hx"}}, []byte("sum")),
	} {
		if bytes.Equal(text, other) {
			t.Errorf("a signature is good for %s, too", what)
		}
	}
	if !bytes.Equal(text, signedText("id", &job, []byte("sum"))) {
		t.Error("the same job has two texts")
	}
}
