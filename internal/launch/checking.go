package launch

import (
	"context"
	"errors"
	"os/exec"
	"strings"
)

// Check runs a program whose status says whether something is in order. If it says no, Check returns
// its last line. If it cannot be started or takes too long, Check returns an error.
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
