package e2e

import (
	"bytes"
	"os"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/engine"
)

// recovered verifies the verbs for recovery on the present database: a dump makes the same one, a backup is
// the same, everything in a sound file is salvaged, and compact changes nothing.
func (s *simulation) recovered() {
	opt := engine.Options{Now: func() time.Time { return s.now }}
	db, err := engine.Open(s.db, &opt)
	if err != nil {
		s.t.Fatal(err)
	}
	was := s.dumped(s.db)
	loaded, copied, saved := s.file("loaded.db"), s.file("copied.db"), s.file("saved.db")
	if _, err := engine.Load(loaded, bytes.NewReader(was), &engine.LoadOptions{Options: opt}); err != nil {
		s.t.Fatalf("load: %v", err)
	}
	if _, err := db.Backup(copied, nil); err != nil {
		s.t.Fatalf("backup: %v", err)
	}
	out, err := engine.Salvage(s.db, saved, &engine.SalvageOptions{Options: opt})
	if err != nil || out.Missing != 0 || len(out.Tables) > 0 {
		s.t.Fatalf("salvage: %v %+v", err, out)
	}
	if _, err := db.Compact(nil); err != nil {
		s.t.Fatalf("compact: %v", err)
	}
	s.sound()
	for _, name := range []string{loaded, copied, s.db} {
		if diff := cmp.Diff(string(was), string(s.dumped(name))); diff != "" {
			s.t.Fatalf("%s (-then +now)\n%s", name, diff)
		}
	}
	for _, name := range []string{loaded, copied, saved} {
		os.Remove(name)
	}
}

func (s *simulation) dumped(name string) []byte {
	db, err := engine.Open(name, &engine.Options{Now: func() time.Time { return s.now }})
	if err != nil {
		s.t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := db.Dump(&b, nil); err != nil {
		s.t.Fatalf("dump: %v", err)
	}
	return b.Bytes()
}
