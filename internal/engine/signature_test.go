package engine

import (
	"bytes"
	"testing"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/row"
)

// TestSignedText: a signature covers everything that decides what is executed and for which
// job, so it is not valid for any other.
func TestSignedText(t *testing.T) {
	job := row.Job{JobFacts: row.JobFacts{ID: 7, JobTerms: row.JobTerms{Command: []string{"sh", "x"}}}}
	text := jobs.SignedText("id", &job, []byte("sum"))
	for what, other := range map[string][]byte{
		"another database": jobs.SignedText("it", &job, []byte("sum")),
		"another job": jobs.SignedText("id",
			&row.Job{JobFacts: row.JobFacts{ID: 8, JobTerms: row.JobTerms{Command: job.Command}}}, []byte("sum")),
		"an array": jobs.SignedText("id",
			&row.Job{JobFacts: row.JobFacts{ID: 7, Array: 6, JobTerms: row.JobTerms{Command: job.Command}}},
			[]byte("sum")),
		"a line": jobs.SignedText("id",
			&row.Job{JobFacts: row.JobFacts{ID: 7, Line: "x", JobTerms: row.JobTerms{Command: []string{"sh"}}}},
			[]byte("sum")),
		"another script": jobs.SignedText("id", &job, []byte("mus")),
		"no script":      jobs.SignedText("id", &job, nil),
		"another command": jobs.SignedText("id",
			&row.Job{JobFacts: row.JobFacts{ID: 7, JobTerms: row.JobTerms{Command: []string{"shx"}}}}, []byte("sum")),
		"joined words": jobs.SignedText("id",
			&row.Job{JobFacts: row.JobFacts{ID: 7, JobTerms: row.JobTerms{Command: []string{"s", "hx"}}}},
			[]byte("sum")),
	} {
		if bytes.Equal(text, other) {
			t.Errorf("a signature is good for %s, too", what)
		}
	}
	if !bytes.Equal(text, jobs.SignedText("id", &job, []byte("sum"))) {
		t.Error("the same job has two texts")
	}
}
