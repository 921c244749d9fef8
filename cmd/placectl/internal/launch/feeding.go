package launch

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
)

// Feed runs a program that reads lines, with the database that they are about in its
// environment. The error is nil if it has ended well.
func (p *Program) Feed(ctx context.Context, database string, lines []byte) error {
	_, err := p.run(ctx, nil, append(environment(), "PLACECTL_DB="+database), bytes.NewReader(lines), nil)
	var late *timeoutError
	switch {
	case errors.Is(err, exec.ErrWaitDelay): // it has left a process running
		return nil
	case errors.As(err, &late):
		return errors.New("it " + late.Error())
	}
	return err
}
