package launch

import (
	"bytes"
	"context"
	"io/fs"
	"time"
)

// Output runs a program with a timeout, and returns what it prints. A missing program is
// fs.ErrNotExist.
func Output(ctx context.Context, most time.Duration, words ...string) (string, error) {
	path, err := Find(words[0])
	if err != nil {
		return "", fs.ErrNotExist
	}
	var out bytes.Buffer
	p := Program{Words: append([]string{path}, words[1:]...), Timeout: most}
	_, err = p.run(ctx, nil, environment(), bytes.NewReader(nil), &out)
	return out.String(), err
}

// System runs a program of the system as Output does, by its path and in an empty
// environment: neither PATH nor a variable leads it elsewhere.
func System(ctx context.Context, most time.Duration, path string, args ...string) (string, error) {
	var out bytes.Buffer
	p := Program{Words: append([]string{path}, args...), Timeout: most}
	_, err := p.run(ctx, nil, []string{}, bytes.NewReader(nil), &out)
	return out.String(), err
}
