package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// Feed runs a program that reads lines. Its environment names the database that the lines are about.
// Feed returns the last line of its error messages, and nil if it succeeds.
func (p *Program) Feed(ctx context.Context, database string, lines []byte) (said string, err error) {
	var out bytes.Buffer
	said, err = p.run(ctx, nil, append(environment(), "PLACECTL_DB="+database), bytes.NewReader(lines), &out)
	var late *timeoutError
	switch {
	case errors.Is(err, exec.ErrWaitDelay): // the program has left a process running
		err = nil
	case errors.As(err, &late):
		err = errors.New("it " + late.Error())
	case err != nil && said == "":
		err = fmt.Errorf("%w%s", err, lastLine(out.String()))
	}
	return strings.TrimPrefix(said, ": "), err
}
