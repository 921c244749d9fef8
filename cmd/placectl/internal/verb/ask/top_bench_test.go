package ask

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/daily"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/internal/engine"
)

// BenchmarkTopTick measures a tick without a change.
func BenchmarkTopTick(b *testing.B) {
	r := session.New(b.Context(), session.Env{}, nil)
	r.DB = filepath.Join(b.TempDir(), "x.db")
	if err := os.WriteFile(r.DB, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	v := &topView{run: r, Top: daily.Top{Live: &daily.Live{Stats: &engine.Stats{}}}, seen: r.FileStamp()}
	for b.Loop() {
		if v.hasChanged() {
			b.Fatal("nothing has changed")
		}
	}
}
