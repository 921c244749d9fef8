package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// home is a directory in which blocks of a page are pasted.
type home struct {
	t   *testing.T
	dir string
}

// failingCall is a placectl that fails the call with the number $PASTE_FAIL.
const failingCall = `#!/bin/sh
if [ -n "${PASTE_FAIL-}" ]; then
	echo >>~/calls
	if [ $(wc -l <~/calls) = "$PASTE_FAIL" ]; then
		touch ~/failed
		echo "placectl: this call fails: $*" >&2
		exit 1
	fi
fi
exec PROGRAM "$@"
`

// newHome makes a home with the page's folder, the program, and stand-ins for others. Those in stand-ins/cron are in
// the PATH of crontabs, which has no placectl.
func newHome(t *testing.T, program string) *home {
	h := &home{t, t.TempDir()}
	docs, err := filepath.Abs("../../../docs")
	if err == nil {
		err = os.Symlink(docs, filepath.Join(h.dir, "docs"))
	}
	bin := filepath.Join(h.dir, "stand-ins")
	if err == nil {
		err = os.MkdirAll(filepath.Join(bin, "cron"), 0o755)
	}
	if err == nil {
		err = os.Symlink("../ssh", filepath.Join(bin, "cron", "ssh"))
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(bin, "placectl"), []byte(strings.Replace(failingCall, "PROGRAM", program, 1)),
			0o755)
	}
	for name, text := range standIns {
		if err == nil {
			err = os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.end)
	return h
}

// end kills the processes that still live here, such as jobs and queue runners of a section that failed half-way.
func (h *home) end() {
	for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(10 * time.Millisecond) {
		some := false
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range dirs {
			env, _ := os.ReadFile(dir + "/environ") // empty once it has ended
			pid, err := strconv.Atoi(filepath.Base(dir))
			if err == nil && bytes.Contains(env, []byte("HOME="+h.dir+"\x00")) {
				some = true
				syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
			}
		}
		if !some {
			return
		}
	}
	h.t.Errorf("processes of %s do not end", h.dir)
}

func (h *home) command(ctx context.Context, script string, env ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir = h.dir
	python, err := filepath.Abs("../../../python")
	if err != nil {
		h.t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "HOME="+h.dir, "PLACECTL_DB=", "USER=ann", testUser+"=ann", "GOCACHE="+goEnv()[0],
		"GOMODCACHE="+goEnv()[1],
		"PYTHONPATH="+python, "PYTHONDONTWRITEBYTECODE=1", "PATH="+filepath.Join(h.dir, "stand-ins")+":"+os.Getenv(
			"PATH"))
	cmd.Env = append(cmd.Env, env...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = time.Second
	return cmd, &said
}

// goEnv are the folders of the Go tool, which depend on HOME.
var goEnv = sync.OnceValue(func() []string {
	said, _ := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output() //nolint:errcheck // then a block fails
	return append(strings.Split(string(said), "\n"), "", "")
})

// run runs a script of the test's own on cluster.db, which must succeed.
func (h *home) run(script string) {
	h.t.Helper()
	if err := h.try(script); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) try(script string) error {
	ctx, cancel := context.WithTimeout(h.t.Context(), 3*time.Minute) // on a busy machine
	defer cancel()
	cmd, said := h.command(ctx, "set -eu\n"+script, "PLACECTL_DB="+filepath.Join(h.dir, "cluster.db"))
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w in\n%s\nwhich prints\n%s", err, script, said)
	}
	return nil
}

// paste runs blocks one after the other in one terminal, until one fails. It returns the status of the last one and
// what all printed. A block that prints something else than the page says has status 99.
func (h *home) paste(as string, blocks []block, env ...string) (status int, said string) {
	h.t.Helper()
	dir := filepath.Join(h.dir, ".paste", as)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		h.t.Fatal(err)
	}
	script, limit := "", 3*time.Minute // on a busy machine
	for i, b := range blocks {
		file := filepath.Join(dir, fmt.Sprintf("%d.%s", i, strings.Replace(b.lang, "python", "py", 1)))
		words := map[string]string{"sh": ". ", "python": "env -u PASTE_FAIL python3 "}[b.lang] + file
		switch b.lang {
		case "cron": // runs beside them
			continue
		case "go":
			file, words = h.module(dir), "go -C "+dir+" run ."
			limit = 5 * time.Minute // it is compiled
		}
		if err := os.WriteFile(file, []byte(b.code), 0o644); err != nil {
			h.t.Fatal(err)
		}
		script += fmt.Sprintf("%s >%s/%d.out 2>&1; status=$?; [ $status = 0 ] || exit $status\n", words, dir, i)
	}
	ctx, cancel := context.WithTimeout(h.t.Context(), limit)
	defer cancel()
	cmd, outside := h.command(ctx, script, env...)
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		said = fmt.Sprintf("%v, %v\n", err, ctx.Err())
		status = 98
	}
	status = max(status, cmd.ProcessState.ExitCode())
	for i, b := range blocks {
		printed, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.out", i)))
		if err != nil {
			continue
		}
		said += b.code + "which prints\n" + string(printed)
		if b.prints != "" && string(printed) != b.prints && status == 0 {
			status, said = 99, said+"but should print\n"+b.prints
		}
	}
	return status, said + outside.String()
}

// module makes a Go module outside of this one, which needs it, and returns the name of its program.
func (h *home) module(dir string) string {
	root, err := filepath.Abs("../../..")
	if err != nil {
		h.t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		h.t.Fatal(err)
	}
	text := regexp.MustCompile(`(?m)^(module|tool) .*\n`).ReplaceAllString(string(mod), "")
	text = "module outside\n" + text + "\nrequire github.com/placectl/placectl v0.0.0\n\nreplace " +
		"github.com/placectl/placectl => " + root + "\n"
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	for name, content := range map[string]string{"go.mod": text, "go.sum": string(sum)} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644)
		}
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return filepath.Join(dir, "main.go")
}

// repeat runs a script several times a second until the test ends.
func (h *home) repeat(script string) {
	if script == "" {
		return
	}
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			cmd, said := h.command(context.Background(), script)
			if err := cmd.Run(); os.Getenv("PASTE_DEBUG") != "" {
				h.t.Logf("crontab: %v: %s", err, said)
			}
			select {
			case <-done:
				return
			case <-time.After(500 * time.Millisecond):
			}
		}
	}()
	h.t.Cleanup(sync.OnceFunc(func() { close(done); <-stopped }))
}
