package queue

import (
	"bytes"
	"io"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// readEach reads the lines of --each, from here or from the host where the job is submitted.
func readEach(r *session.Run, c *cli.Context) (err error) {
	r.Lines = nil
	if r.Carried != nil && r.Carried.Lines != nil {
		r.Lines, err = payload.ReadLines("--each", bytes.NewReader(r.Carried.Lines))
	} else if c.IsSet("each") {
		var in io.ReadCloser
		if in, err = eachInput(r, c); err != nil {
			return err
		}
		defer in.Close()
		r.Lines, err = payload.ReadLines(session.ShownFile(c.String("each")), in)
	}
	if err != nil {
		err = usage.Errorf("%w", err)
	}
	return err
}

func eachInput(r *session.Run, c *cli.Context) (io.ReadCloser, error) {
	name := c.String("each")
	_, files := payload.Divide(plainArgs(r, c))
	if name == "-" && (c.String("script") == "-" || len(files) > 0 && files[0] == "-") {
		return nil, usage.Errorf("standard input cannot be both the script and the lines of --each")
	}
	in, err := r.Input(name)
	if err != nil {
		err = usage.Errorf("--each: %w", err)
	}
	return in, err
}

// carryLines encodes the lines for another host.
func carryLines(r *session.Run, c *cli.Context) ([]byte, error) {
	in, err := eachInput(r, c)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	lines, err := infile.ReadAll(in)
	if err == nil {
		_, err = payload.ReadLines(session.ShownFile(c.String("each")), bytes.NewReader(lines))
	}
	if err != nil {
		return nil, usage.Errorf("%w", err)
	}
	return lines, nil
}

// each turns a submission into an array of one job for each line.
func each(r *session.Run, c *cli.Context, s *engine.Submission) (err error) {
	if r.Lines == nil {
		if c.IsSet("each") {
			return usage.Errorf("--each is for the command line, not for scripts")
		}
		return array(c, s)
	}
	if c.IsSet("array") {
		limit, only := strings.CutPrefix(c.String("array"), "%")
		if !only {
			return usage.Errorf("--each makes a job for each line: --array can only limit how many run at once, %s",
				"%10")
		}
		a, err := text.ParseArray("1%"+limit, engine.MaxArray)
		if err != nil {
			return usage.Errorf("--array: %w", err)
		}
		s.Throttle = min(a.Limit, engine.MaxArray)
	}
	if s.Each, err = r.Lines.Each(s.Command); err != nil {
		return usage.Errorf("%w", err)
	}
	return nil
}
