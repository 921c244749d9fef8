// Package told keeps, in the user's state directory, what a session of a terminal or of cron has been told about
// ends of jobs, and which jobs an attempt has submitted. A plain wait can then tell each failure once to each
// session, and inside a job it knows which jobs to wait for.
package told

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/bytejson"
	"golang.org/x/sys/unix"
)

// Book is the file of one session or attempt.
type Book struct{ path string }

// Page is a book's content.
type Page struct {
	// Ends has the instants at which ends of jobs were told, in Unix seconds, by the jobs' numbers.
	Ends map[uint64]int64 `json:"ends,omitempty"`
	Made []Numbers        `json:"made,omitempty"`
}

// Numbers are consecutive numbers of jobs.
type Numbers struct {
	First uint64 `json:"first"`
	Count uint64 `json:"count"`
}

// Knows reports whether the end of a job at an instant has been told.
func (p *Page) Knows(job uint64, end time.Time) bool {
	at, is := p.Ends[job]
	return is && at >= end.Unix()
}

// Session names the session of this process: its number, and when its leader began, because numbers are used again.
func Session() string {
	sid, err := unix.Getsid(0)
	if err != nil {
		sid = 0
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", sid)) // the leader may be gone
	_, rest, _ := strings.Cut(string(stat), ") ")
	began := "0"
	if words := strings.Fields(rest); len(words) > 19 {
		began = words[19]
	}
	return fmt.Sprintf("s%d.%s", sid, began)
}

// Attempt names an attempt of a job.
func Attempt(job uint64, number int) string { return fmt.Sprintf("j%d.%d", job, number) }

// Open returns the book in a file, which need not exist. Only the user may write its folder.
func Open(path string) *Book { return &Book{path} }

// Read returns the content, which is empty before the first Write.
func (b *Book) Read() (*Page, error) {
	text, err := os.ReadFile(b.path)
	if errors.Is(err, os.ErrNotExist) {
		return new(Page), nil
	}
	if err != nil {
		return nil, err
	}
	return decode(text), nil
}

// decode reads a page. One that a loss of power has cut is empty.
func decode(text []byte) *Page {
	p := new(Page)
	if bytejson.Unmarshal(text, p) != nil {
		return new(Page)
	}
	return p
}

// Write changes the content. Processes of the session that write at once wait for each other.
func (b *Book) Write(change func(*Page)) error {
	f, err := os.OpenFile(b.path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if len(text) == 0 {
		forget(filepath.Dir(b.path))
	}
	p := decode(text)
	change(p)
	if text, err = bytejson.Marshal(p); err != nil {
		return err
	}
	_, err = f.WriteAt(text, 0)
	return errors.Join(err, f.Truncate(int64(len(text))))
}

// keep is how long an unchanged book is kept.
const keep = 60 * 24 * time.Hour

// forget removes old books. What it cannot remove it leaves to the next call.
func forget(dir string) {
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keep {
			os.Remove(filepath.Join(dir, e.Name())) //nolint:errcheck // see above
		}
	}
}
