package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/urfave/cli/v2"
)

// fitError offers everything that an error may offer.
type fitError struct{}

func (fitError) Error() string { return "no room for \x1b[2Jjob" }

func (fitError) Earliest() (int64, bool) { return 1795167000, true }

func (fitError) Caret() string { return "ncpus=9\n      ^" }

func TestReport(t *testing.T) {
	tests := []struct {
		name string
		err  error
		form output.Format
		tty  bool
		code int
		want string
	}{
		{"nothing", nil, output.JSON, false, 0, ""},
		{"plain", errors.New("disk full"), output.Table, false, 1, "placectl: disk full\n"},
		{"json", errors.New("disk \"full\""), output.JSON, false, 1,
			`{"error":{"status":1,"code":"failed","message":"disk \"full\"","earliest":null}}` + "\n"},
		{"usage", usage.Of("place", "no"), output.Table, false, 2, "placectl: place: no\nsee: placectl help place\n"},
		{"usage wrapped", fmt.Errorf("line 3: %w", usage.Of("", "no")), output.JSONL, false, 2,
			`{"error":{"status":2,"code":"usage","message":"line 3: no","earliest":null}}` + "\n"},
		{"interrupted", fmt.Errorf("reading: %w", context.Canceled), output.Table, false, 130,
			"placectl: interrupted\n"},
		{"status", exit.Status(42), output.JSON, false, 42, ""},
		{"joined", errors.Join(errors.New("a"), errors.New("b\nc")), output.Table, false, 1,
			"placectl: a\nplacectl: b\\nc\n"},
		{"rich", fmt.Errorf("x: %w", fitError{}), output.Table, false, 1, "placectl: x: no room for \\x1b[2Jjob\n"},
		{"caret", fitError{}, output.Table, true, 1, "placectl: no room for \\x1b[2Jjob\n  ncpus=9\n        ^\n"},
		{"rich json", fitError{}, output.JSON, true, 1,
			`{"error":{"status":1,"code":"failed","message":"no room for \u001b[2Jjob","earliest":"2026-11-20T09:30:00Z"}}` + "\n"},
	}
	for _, tt := range tests {
		c := newCapture()
		c.StderrTTY = tt.tty
		r := c.runner()
		r.Output = tt.form
		if code := r.Report(tt.err); code != tt.code {
			t.Errorf("%s: status %d, want %d", tt.name, code, tt.code)
		}
		if got := c.err.String(); got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := newCapture("cycle")
	r := newRun(ctx, c.Env)
	r.Verbs = entries(&session.Verb{Name: "cycle", Run: func(r *session.Run, _ *cli.Context) error {
		return r.Ctx.Err()
	}})
	if code := r.Report(r.Main()); code != exit.Interrupted {
		t.Errorf("an interrupted run: status %d, want %d", code, exit.Interrupted)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestFullDisk: an answer that could not be written is a failure.
func TestFullDisk(t *testing.T) {
	for _, args := range []string{"version", "version -o json", "help"} {
		c := newCapture(strings.Fields(args)...)
		c.Stdout = fullDisk{}
		if code := c.run(); code != exit.Failed || !strings.Contains(c.err.String(), "no space left") {
			t.Errorf("%s on a full disk: status %d, want %d: %q", args, code, exit.Failed, c.err.String())
		}
	}
}

func TestNotesAndInput(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"version", "placectl: note \\a 1\n"},
		{"version -v", "placectl: note \\a 1\nplacectl: detail\n"},
		{"version -q -v", ""},
	} {
		c := newCapture(strings.Fields(tt.args)...)
		r := c.runner()
		if err := r.Main(); err != nil {
			t.Fatal(err)
		}
		r.Notef("note \a %d", 1)
		r.Debugf("detail")
		if got := c.err.String(); got != tt.want {
			t.Errorf("%s: messages %q, want %q", tt.args, got, tt.want)
		}
	}
	r := newCapture().runner()
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"-": "from stdin\n", file: "from a file"} {
		in, err := r.Input(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := io.ReadAll(in); string(got) != want {
			t.Errorf("Input(%s) reads %q, want %q", name, got, want)
		}
		in.Close()
	}
}
