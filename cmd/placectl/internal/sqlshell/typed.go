package sqlshell

import (
	"os"
	"path/filepath"

	"github.com/placectl/placectl/cmd/placectl/internal/lineedit"
)

// typed reads texts from a terminal, and puts the history away as it is closed.
type typed struct {
	*lineedit.Editor
	history string // its file, "" for none
}

func edited(t lineedit.Terminal, s *Shell, history string) lines {
	e := &typed{lineedit.New(t), history}
	e.Complete, e.Whole = s.complete, whole
	if f, err := os.Open(history); err == nil {
		_ = e.History.Load(f) // a history that cannot be read is none
		f.Close()
	}
	return e
}

func (e *typed) Next() (string, error) { return e.Read("placectl> ", "     ...> ") }

// Close writes the history, the new one whole or the old one.
func (e *typed) Close() error {
	if e.history == "" || os.MkdirAll(filepath.Dir(e.history), 0o700) != nil {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(e.history), ".history-*")
	if err != nil {
		return nil // as no history at all
	}
	defer os.Remove(f.Name())
	if e.History.Save(f) == nil && f.Close() == nil {
		_ = os.Rename(f.Name(), e.history)
	}
	return nil
}
