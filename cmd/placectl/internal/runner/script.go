package runner

import "strings"

// scriptWords returns the command that runs a script: with the interpreter given at submission, or else
// the one in its #! line, or else sh. It reads the line itself, because the kernel may not execute
// files in the script's directory.
func (o *Order) scriptWords(path string) []string {
	first, _, _ := strings.Cut(o.Payload.Script, "\n")
	line, marked := strings.CutPrefix(strings.TrimSuffix(first, "\r"), "#!")
	if o.Payload.Interpreter != "" {
		line, marked = o.Payload.Interpreter, true
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
	return append(append(words, path), o.Command...)
}
