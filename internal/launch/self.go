package launch

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// self returns the file of this program, as it was started.
func self() (string, error) {
	path, err := exec.LookPath(os.Args[0])
	if err != nil {
		return os.Executable()
	}
	return filepath.Abs(path)
}

// Self runs this program again until it ends or the context does. It returns its output, its error
// messages and its exit status, -1 if it was killed or did not start. On Linux it never outlives
// this process. Self fails if it cannot find the program's own file.
func Self(ctx context.Context, args ...string) (out, complaint []byte, status int, err error) {
	path, err := self()
	if err != nil {
		return nil, nil, -1, err
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// The child ends when we do. The kernel ties it to our thread, so the thread must stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = endsWithUs()
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
