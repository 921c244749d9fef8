package process

import "io"

// Answers is where the answer of a run goes. It remembers that it could not be written.
type Answers struct {
	io.Writer
	Err error // the first, nil for none
}

func (a *Answers) Write(b []byte) (int, error) {
	if len(b) == 0 { // a full device refuses that, too
		return 0, nil
	}
	n, err := a.Writer.Write(b)
	if err != nil && a.Err == nil {
		a.Err = err
	}
	return n, err
}
