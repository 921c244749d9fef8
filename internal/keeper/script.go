package keeper

import (
	"strings"

	"github.com/placectl/placectl/internal/engine"
)

// ScriptWords returns the command that runs a job's script from a file, with arguments: with the interpreter
// given at submission, or else
// the one in its #! line, or else sh. It reads the line itself, because the kernel may not execute
// files in the script's directory.
func ScriptWords(p *engine.Payload, path string, args []string) []string {
	first, _, _ := strings.Cut(p.Script, "\n")
	line, marked := strings.CutPrefix(strings.TrimSuffix(first, "\r"), "#!")
	if p.Interpreter != "" {
		line, marked = p.Interpreter, true
	}
	// As in the kernel, everything after the program is one argument.
	program, argument, _ := strings.Cut(strings.Trim(line, " \t"), " ")
	if at := strings.IndexByte(program, '\t'); at >= 0 {
		program, argument = program[:at], strings.TrimSpace(program[at:]+" "+argument)
	}
	words := []string{"/bin/sh"}
	if marked && program != "" {
		words = []string{program}
		if argument = strings.Trim(argument, " \t"); argument != "" {
			words = append(words, argument)
		}
	}
	return append(append(words, path), args...)
}
