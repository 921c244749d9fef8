package runner

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/bytejson"
	"github.com/placectl/placectl/store"
)

// journal is what a supervisor writes down before it acts. Its first line is written before
// the claim, its second one before the command is executed. They are not synced: whoever kills a
// process takes nothing of them away, and no command outlives a loss of power, after which lines
// may be missing. So the first one says in which life of the host it was written. Its JSON lies on disk for as
// long as the attempt goes on, over upgrades too: fields are added, never changed.
type journal struct {
	intent
	process *begun // nil: certainly nothing was executed
}

// intent is its first line.
type intent struct {
	Nonce    store.Nonce `json:"nonce"`
	Database string      `json:"database"` // its path, or a URL
	Device   uint64      `json:"device"`   // of the file
	Inode    uint64      `json:"inode"`
	Boot     string      `json:"boot,omitempty"` // "" where lines were synced
}

// begun is its second line: the process that may have executed the command, and what
// whoever adopts it has to know.
type begun struct {
	store.Process
	Log    string        `json:"log,omitempty"` // where the output really lies, where that is elsewhere
	Cgroup string        `json:"cgroup,omitempty"`
	Signal int           `json:"signal,omitempty"`
	Before time.Duration `json:"before,omitempty"`
	First  bool          `json:"first,omitempty"` // the signal is for the command alone
	Grace  time.Duration `json:"grace"`
	End    time.Duration `json:"end"`              // by the boot clock, as far as was known then
	Polled bool          `json:"polled,omitempty"` // the memory of share is looked at
	Hosts  []string      `json:"hosts,omitempty"`  // of its other nodes
	share
}

// begin writes the first line. It fails with fs.ErrExist when somebody was here before.
func (d *dir) begin(i intent) (*os.File, error) {
	f, err := d.root.OpenFile(journalFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err := appendLine(f, i); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// appendLine adds a line to a journal.
func appendLine(f *os.File, line any) error {
	text, err := bytejson.Marshal(line)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return err
}

// journal reads the journal. It is nil where there is none, or where it was not finished:
// then nobody has claimed yet.
func (d *dir) journal() (*journal, error) {
	text, err := d.root.ReadFile(journalFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	first, rest, ok := bytes.Cut(text, []byte("\n"))
	j := new(journal)
	if !ok || bytejson.Unmarshal(first, &j.intent) != nil || j.Nonce == (store.Nonce{}) {
		return nil, nil
	}
	second, _, ok := bytes.Cut(rest, []byte("\n"))
	if b := new(begun); ok && bytejson.Unmarshal(second, b) == nil && b.PID != 0 {
		j.process = b
	}
	return j, nil
}
