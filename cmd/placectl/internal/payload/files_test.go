package payload

import (
	"testing"

	"github.com/placectl/placectl/internal/engine"
)

// TestFiles: where output goes, as far as it is known before a job runs. User-chosen names cannot lead
// elsewhere.
func TestFiles(t *testing.T) {
	single, member := new(engine.Job), new(engine.Job)
	single.ID, single.Name, single.User = 12, "../a/b", "ann"
	member.ID, member.Array, member.Index = 15, 13, 2
	for _, tt := range []struct {
		job            *engine.Job
		node, out, err string // patterns
		wantOut        string
		wantErr        string
	}{
		{single, "", "", "", "/d/placectl-12.out", ""},
		{member, "", "", "", "/d/placectl-13_2.out", ""},
		{single, "", "/logs/%u/%x.%j", "e%%%t", "/logs/ann/.._a_b.12", "/d/e%%t"},
		{single, "", "%N.%A.%", "", "/d/%N.12.%", ""},
		{member, "n1", "%N.%a", "%q", "/d/n1.2", "/d/%q"},
	} {
		f := Files{Job: tt.job, Of: &engine.Payload{Dir: "/d", Out: tt.out, Err: tt.err}, Node: func() string {
			return tt.node
		}}
		if out, err := f.Out(), f.Err(); out != tt.wantOut || err != tt.wantErr {
			t.Errorf("--out %s --err %s: files %s and %s, want %s and %s", tt.out, tt.err, out, err, tt.wantOut,
				tt.wantErr)
		}
	}
	if out := (Files{Job: single, Of: new(engine.Payload)}).Out(); out != "" {
		t.Errorf("a job that runs nothing has the output file %s", out)
	}
}
