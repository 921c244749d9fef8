package launch

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// Self runs this program once more, to its end or the context's, and returns what it
// printed, what it complained about, and its exit status; -1 for none, when it was
// ended or did not start. It never outlives this process. The error says that its own file cannot be found.
func Self(ctx context.Context, args ...string) (out, complaint []byte, status int, err error) {
	path, err := exec.LookPath(os.Args[0]) // how this program was started
	if err != nil {
		path, err = os.Executable()
	}
	if err != nil {
		return nil, nil, -1, err
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// It ends when we do. The kernel takes us for our thread: it is kept.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return stdout.Bytes(), stderr.Bytes(), exit.ExitCode(), nil
	case err != nil:
		return stdout.Bytes(), stderr.Bytes(), -1, nil
	}
	return stdout.Bytes(), stderr.Bytes(), 0, nil
}
