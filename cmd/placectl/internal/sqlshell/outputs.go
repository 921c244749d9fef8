package sqlshell

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/text"
)

// answer prints one answer to its destination: a file, or stdout, there through a pager.
func (s *Shell) answer(print func(*Settings) error) error {
	to := s.Settings
	if s.file != nil {
		to.Out, to.Terminal = s.file, false
		err := print(&to)
		if s.once {
			err = errors.Join(err, s.closeFile())
		}
		return err
	}
	if s.Pager == nil || !s.paged || !s.Terminal {
		return print(&to)
	}
	pager := s.Pager(s.Out)
	to.Out = pager
	return errors.Join(print(&to), pager.Close())
}

// outputTo directs answers to a file, or back to stdout.
func (s *Shell) outputTo(arg string, once bool) error {
	if arg == "" && once {
		return usage.Of("shell", ".once: which file?")
	}
	if err := s.closeFile(); err != nil || arg == "" || arg == "stdout" {
		return err
	}
	name, err := oneWord(".output", arg)
	if err != nil {
		return err
	}
	s.file, err = os.Create(name)
	s.once = once
	return err
}

func (s *Shell) closeFile() error {
	f := s.file
	if s.file = nil; f == nil {
		return nil
	}
	return f.Close()
}

func (s *Shell) pager(arg string) error {
	if s.Pager == nil {
		return usage.Of("shell", ".pager: without a terminal there is none")
	}
	return s.toggle(&s.paged, arg)
}

// width sets the widths of columns, from the first on.
func (s *Shell) width(arg string) error {
	var widths []int
	for _, w := range strings.Fields(arg) {
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 || n > 10_000 {
			return usage.Of("shell", ".width: %s is no width from 0 to 10000", text.Quoted(w))
		}
		widths = append(widths, n)
	}
	s.Widths = widths
	return nil
}
