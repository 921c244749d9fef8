package launch

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/placectl/placectl/internal/environ"
	"golang.org/x/sys/unix"
)

// Become replaces this program with another. It looks for the program on the PATH of env, unless its
// name is a path. It returns only if that fails, with an *Error.
func Become(words, env []string) error {
	if len(words) == 0 || words[0] == "" {
		return &Error{"", syscall.ENOENT}
	}
	path, err := lookIn(SearchPath(env), words[0])
	if err == nil {
		err = syscall.Exec(path, words, env)
	}
	return &Error{words[0], err}
}

// lookIn finds a program on a path, or at its name if that is a path.
func lookIn(path, name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	failed := error(syscall.ENOENT)
	for _, dir := range strings.Split(path, ":") {
		if dir == "" {
			dir = "."
		}
		file := dir + "/" + name
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrPermission): // another directory may have an executable one
			failed = syscall.EACCES
		case err != nil || info.IsDir():
		case unix.Access(file, unix.X_OK) == nil:
			return file, nil
		default:
			failed = syscall.EACCES
		}
	}
	return "", failed
}

// SearchPath returns the PATH of an environment, or the system's default.
func SearchPath(env []string) string {
	path := environ.DefaultPath
	for _, v := range env {
		if is, ok := strings.CutPrefix(v, "PATH="); ok {
			path = is
		}
	}
	return path
}
