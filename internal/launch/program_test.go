package launch

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestFind: a missing program differs from one that cannot be executed.
func TestFind(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, missing := range map[string]bool{"no such program": true, plain + "x": true, plain: false,
		t.TempDir(): false} {
		_, err := Find(name)
		var e *Error
		if !errors.As(err, &e) || e.Missing() != missing || e.Name != name {
			t.Errorf("Find(%s) = %v, want an *Error, missing: %v", name, err, missing)
		}
	}
}

func sh(script string) *Program {
	return &Program{Words: []string{"/bin/sh", "-c", script, "sh"}, Timeout: 5 * time.Second}
}

func TestRun(t *testing.T) {
	var out bytes.Buffer
	said, err := sh(`cat; echo "$1"; echo first >&2; echo last >&2`).run(context.Background(), []string{"behind"}, nil,
		bytes.NewReader([]byte("in ")), &out)
	if err != nil || out.String() != "in behind\n" || said != ": last" {
		t.Errorf("run printed %q and returned %q, %v", out.String(), said, err)
	}
	if said, err = sh("echo why >&2; exit 3").run(context.Background(), nil, nil, nil, nil); err == nil ||
		err.Error() != "exit status 3: why" {
		t.Errorf("run = %q, %v, want exit status 3: why", said, err)
	}
	slow := sh("sleep 60")
	slow.Timeout = 10 * time.Millisecond
	if _, err = slow.run(context.Background(), nil, nil, nil, nil); err == nil ||
		err.Error() != "took longer than 10ms" {
		t.Error(err)
	}
	if _, err = sh("sleep 3 & exit 0").run(context.Background(), nil, nil, nil, nil); !errors.Is(err,
		exec.ErrWaitDelay) {
		t.Error(err)
	}
}

// TestAll: stops come first, each job's command follows the launcher's own arguments, and a failure affects
// no other launch.
func TestAll(t *testing.T) {
	p := sh(
		`[ "$1" = ok ] && echo "$PLACECTL_EVENT $PLACECTL_JOB $PLACECTL_NODELIST $(cat $PLACECTL_NODEFILE | wc -l)"`)
	done := p.All(context.Background(), "x.db", []Notice{
		{Event: Start, Command: []string{"ok"}, Env: []string{"PLACECTL_JOB=1", "PLACECTL_NODELIST=n[1-2]"},
			Chunks: []string{"n1", "n2", "n2"}},
		{Event: Start, Env: []string{"PLACECTL_JOB=2"}},
		{Event: Stop, Command: []string{"ok"}, Env: []string{"PLACECTL_JOB=3", "PLACECTL_NODELIST=n7"},
			Chunks: []string{"n7"}},
	})
	if done[0].Said != ": start 1 n[1-2] 3" || done[0].Err != nil || done[1].Err == nil ||
		done[2].Said != ": stop 3 n7 1" {
		t.Errorf("All = %+v", done)
	}
}

func TestRank(t *testing.T) {
	list := []Candidate{{Name: "a"}, {Name: "b"}}
	if names, err := sh(`sed 's/.*"name":"\(.\)".*/\1/' | sort -r`).Rank(context.Background(), list); err != nil ||
		len(names) != 2 || names[0] != "b" {
		t.Errorf("Rank = %v, %v, want b, a", names, err)
	}
	if _, err := sh("echo c").Rank(context.Background(), list); err == nil ||
		err.Error() != `/bin/sh named "c", which is not one of the 2 candidates` {
		t.Error(err)
	}
}
