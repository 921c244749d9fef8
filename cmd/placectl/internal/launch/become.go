package launch

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/placectl/placectl/cmd/placectl/internal/environ"
)

// Become replaces this program with another. It looks for the program on the PATH of env, unless its
// name is a path. It returns only if that fails, with an *Error.
func Become(words, env []string) error {
	if len(words) == 0 || words[0] == "" {
		return &Error{"", syscall.ENOENT}
	}
	if strings.Contains(words[0], "/") {
		return &Error{words[0], syscall.Exec(words[0], words, env)}
	}
	failed := error(syscall.ENOENT)
	for _, dir := range strings.Split(searched(env), ":") {
		if dir == "" {
			dir = "."
		}
		err := syscall.Exec(dir+"/"+words[0], words, env)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		case errors.Is(err, syscall.EACCES): // another directory may have an executable one
			failed = err
		default:
			return &Error{words[0], err}
		}
	}
	return &Error{words[0], failed}
}

// searched returns the PATH of an environment.
func searched(env []string) string {
	path := environ.DefaultPath
	for _, v := range env {
		if is, ok := strings.CutPrefix(v, "PATH="); ok {
			path = is
		}
	}
	return path
}
