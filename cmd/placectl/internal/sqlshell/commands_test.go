package sqlshell

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/query"
)

func TestShellCompletion(t *testing.T) {
	s := &Shell{Schema: Schema{Tables: []string{"nodes", "jobs"}, Columns: map[string][]query.Column{"nodes": {{Name: "state"}, {Name: "name"}}}}}
	for _, c := range []struct {
		line string
		want []string
	}{
		{"SELECT sta", []string{"state"}},
		{"SELECT n", []string{"NOT", "NULL", "NULLS", "name", "nodelist(", "nodes", "nullif("}},
		{"SELECT name FROM jo", []string{"JOIN", "jobs"}},
		{".sch", []string{".schema "}},
		{"SELECT zzz", nil},
	} {
		head, got, tail := s.complete(c.line, len(c.line))
		if d := cmp.Diff(c.want, got); d != "" || tail != "" || len(head) > len(c.line) {
			t.Errorf("%s: %q %q %s", c.line, head, tail, d)
		}
	}
}
