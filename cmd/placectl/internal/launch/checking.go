package launch

import (
	"context"
	"errors"
	"os/exec"
	"strings"
)

// Check runs a program that says by its status whether something is in order. It returns
// its last line where it says no, and an error where it says nothing: it cannot be started,
// or takes too long.
func (p *Program) Check(ctx context.Context, database string) (well bool, said string, err error) {
	said, err = p.run(ctx, nil, append(environment(), "PLACECTL_DB="+database), nil, nil)
	said = strings.TrimPrefix(said, ": ")
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return true, said, nil
	case !errors.As(err, &exit):
		return false, "", err
	case said == "":
		return false, exit.Error(), nil
	}
	return false, said, nil
}
