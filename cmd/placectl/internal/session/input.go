package session

import (
	"errors"
	"io"
	"os"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
)

// ShownFile returns the name of an input for messages.
func ShownFile(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// Malformed turns a mistake in a file into a usage error, because the verb's help describes files.
func Malformed(err error) error {
	var bad *infile.Error
	if errors.As(err, &bad) {
		return usage.Errorf("%w", err)
	}
	return err
}

// Input opens the file that an argument names, or standard input for "-".
func (r *Run) Input(name string) (io.ReadCloser, error) {
	in := io.NopCloser(r.Stdin)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		in = f
	}
	return r.hashed(in), nil
}

// ReadText reads an input to its end.
func (r *Run) ReadText(name string) (infile.Text, error) {
	in, err := r.Input(name)
	if err != nil {
		return infile.Text{}, err
	}
	defer in.Close()
	data, err := infile.ReadAll(in)
	return infile.New(ShownFile(name), data), err
}
