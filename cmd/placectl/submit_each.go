package main

import (
	"bytes"
	"io"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// readEach reads the lines of --each, wherever the submission comes from.
func (r *runner) readEach(c *cli.Context) (err error) {
	r.lines = nil
	if r.carried != nil && r.carried.Lines != nil {
		r.lines, err = payload.ReadLines("--each", bytes.NewReader(r.carried.Lines))
	} else if c.IsSet("each") {
		var in io.ReadCloser
		if in, err = r.eachInput(c); err != nil {
			return err
		}
		defer in.Close()
		r.lines, err = payload.ReadLines(shownFile(c.String("each")), in)
	}
	if err != nil {
		err = usagef("%w", err)
	}
	return err
}

func (r *runner) eachInput(c *cli.Context) (io.ReadCloser, error) {
	name := c.String("each")
	_, files := payload.Divide(r.plainArgs(c))
	if name == "-" && (c.String("script") == "-" || len(files) > 0 && files[0] == "-") {
		return nil, usagef("standard input is the script or the lines of --each, not both")
	}
	in, err := r.input(name)
	if err != nil {
		err = usagef("--each: %w", err)
	}
	return in, err
}

// carryLines are the lines as they go to another host.
func (r *runner) carryLines(c *cli.Context) ([]byte, error) {
	in, err := r.eachInput(c)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	lines, err := io.ReadAll(in)
	if err == nil {
		_, err = payload.ReadLines(shownFile(c.String("each")), bytes.NewReader(lines))
	}
	if err != nil {
		return nil, usagef("%w", err)
	}
	return lines, nil
}

// each makes a submission one of a job for each line.
func (r *runner) each(c *cli.Context, s *store.Submission) (err error) {
	if r.lines == nil {
		if c.IsSet("each") {
			return usagef("--each is for the command line: a script does not name its own lines")
		}
		return array(c, s)
	}
	if c.IsSet("array") {
		limit, only := strings.CutPrefix(c.String("array"), "%")
		if !only {
			return usagef("--each has a job for each line: of --array it takes how many run at once, %s", "%10")
		}
		a, err := text.ParseArray("1%"+limit, store.MaxArray)
		if err != nil {
			return usagef("--array: %w", err)
		}
		s.Throttle = min(a.Limit, store.MaxArray)
	}
	if s.Each, err = r.lines.Each(s.Command); err != nil {
		return usagef("%w", err)
	}
	return nil
}
