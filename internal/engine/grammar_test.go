package engine

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/query"
)

// TestOneGrammar: settings and queries of a Go program read durations and times as the command
// does.
func TestOneGrammar(t *testing.T) {
	db, _ := newDB(t)
	err := db.Update(func(tx *Tx) error {
		for name, want := range map[string]bool{"default_walltime=1h": true, "default_walltime=1:30:00": true,
			"default_walltime=3600": true, "default_walltime=0": false,
			"default_walltime=1h30": false, "priority_every=1h30m": true, "keep_ended=2d12h": true,
			"set_delay=forever": true, "set_delay=0": true,
			"half_life=1w": true, "half_life=500ms": false, "lost_after=-1h": false,
			"suspect_window=200000000000": false} {
			setting, value, _ := strings.Cut(name, "=")
			if err := tx.Config().Set(setting, value); (err == nil) != want {
				t.Errorf("%s: %v", name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"SELECT 1 WHERE now() - '1d' < now()", "SELECT count(*) FROM jobs WHERE submit > " +
		"'yesterday' OR submit > '-7d' OR walltime > '-7d' OR walltime > '1d'",
		"SELECT count(*) FROM nodes AT 'tomorrow 08:00'", "SELECT count(*) FROM jobs WHERE submit > 'friday 18:00'"} {
		if _, err := db.Query(context.Background(), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	zone := time.FixedZone("east", 3600)
	text := "SELECT 1 WHERE now() > '1970-01-12 14:46:39' AND now() < '1970-01-12 14:46:41'"
	list, err := query.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *Tx) error {
		rows, err := tx.Query(context.Background(), list[0], Query{Text: text, Zone: zone})
		if err != nil {
			return err
		}
		n := 0
		for _, err := range rows.All() {
			if n++; err != nil {
				return err
			}
		}
		if n != 1 {
			t.Error("a time without a zone is not in that of the query")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
