package sharefile

import (
	"errors"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/placer/fairshare"
)

// FuzzShareFile: any file is a valid state, or an error with a position.
func FuzzShareFile(f *testing.F) {
	f.Add([]byte(example))
	f.Add(
		[]byte(
			`{"total_workers":9,"rebalance":{"threshold":1,"min_duration_s":1,"exceeded_for_s":9},"class_order":["a"],` +
				`"classes":[{"name":"a","load_pct":1,"waiting":3,"jobs":[{"id":"x","waiting":3}]}]}`))
	f.Add([]byte("{\"total_workers\":\"\\\"x\",\n\"classes\":[{\"nme\":1}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(infile.New("state", data))
		var at *infile.Error
		if err != nil {
			if !errors.As(err, &at) || at.Line < 1 || at.Col < 1 {
				t.Fatalf("%v: no place", err)
			}
			return
		}
		if _, err := new(fairshare.Planner).Plan(file.State(1_000_000)); err != nil &&
			!errors.Is(err, fairshare.ErrState) {
			t.Fatal(err)
		}
	})
}
