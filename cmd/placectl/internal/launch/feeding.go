package launch

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
)

// Feed runs a program that reads lines. Its environment names the database that the lines are about.
// Feed returns nil if the program succeeds.
func (p *Program) Feed(ctx context.Context, database string, lines []byte) error {
	_, err := p.run(ctx, nil, append(environment(), "PLACECTL_DB="+database), bytes.NewReader(lines), nil)
	var late *timeoutError
	switch {
	case errors.Is(err, exec.ErrWaitDelay): // the program has left a process running
		return nil
	case errors.As(err, &late):
		return errors.New("it " + late.Error())
	}
	return err
}
