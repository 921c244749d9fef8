package process

import "io"

// Answers writes the answer of a run. It remembers the first error.
type Answers struct {
	io.Writer
	Err error // the first error, nil for none
}

func (a *Answers) Write(b []byte) (int, error) {
	if len(b) == 0 { // even this fails on a full device
		return 0, nil
	}
	n, err := a.Writer.Write(b)
	if err != nil && a.Err == nil {
		a.Err = err
	}
	return n, err
}
