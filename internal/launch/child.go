package launch

import (
	"os"
	"os/exec"
	"syscall"
)

// Child starts a program as a child of this process, in a session of its own, with our output. A
// shell looks for it on the PATH of env. The exit status is 127 if it is missing and 126 if it
// cannot be executed. Only the caller waits for it, by its pid. Child fails if it cannot even start
// the shell, or cannot enter the directory.
func Child(words, env []string, dir string, in *os.File) (pid int, err error) {
	KeepOpen()
	cmd := exec.Command("/bin/sh", append([]string{"-c", `exec "$0" "$@"`}, words...)...)
	cmd.Env, cmd.Dir = env, dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	pid = cmd.Process.Pid
	return pid, cmd.Process.Release()
}
