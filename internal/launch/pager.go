package launch

import (
	"bytes"
	"io"
	"os"
	"os/exec"
)

// Pager shows its input directly if it fits on a terminal with Rows rows. Otherwise it starts a
// program, which is a command for the system's shell.
type Pager struct {
	Command string // "" for less, or more if there is no less
	Rows    int    // 0: no limit
	Out     io.Writer

	held  bytes.Buffer
	lines int
	cmd   *exec.Cmd
	in    io.WriteCloser
	plain bool // the output is shown directly
}

// Write shows more output. Once the user has left the program, the rest is dropped.
func (p *Pager) Write(b []byte) (int, error) {
	switch {
	case p.in != nil:
		p.in.Write(b) //nolint:errcheck // the user has left the program
		return len(b), nil
	case p.plain || p.Rows <= 0:
		return p.Out.Write(b)
	}
	p.held.Write(b)
	if p.lines += bytes.Count(b, []byte{'\n'}); p.lines < p.Rows {
		return len(b), nil
	}
	if err := p.begin(); err != nil {
		p.plain = true
	}
	held := p.held.Bytes()
	p.held = bytes.Buffer{}
	if _, err := p.Write(held); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (p *Pager) begin() error {
	command := p.Command
	for _, name := range []string{"less", "more"} {
		if _, err := Find(name); command == "" && err == nil {
			command = name
		}
	}
	if command == "" {
		return os.ErrNotExist
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if out, ok := p.Out.(*os.File); ok {
		cmd.Stdout = out
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd, p.in = cmd, in
	return nil
}

// Close shows the rest of the output, and waits for the program.
func (p *Pager) Close() error {
	if p.in == nil {
		_, err := p.held.WriteTo(p.Out)
		return err
	}
	p.in.Close()
	p.cmd.Wait() //nolint:errcheck // its exit status means nothing
	return nil
}
