package runner

import "strings"

// scriptWords is the command that runs a script: by the interpreter that it was submitted
// with, else as its #! line says, else by sh. The line is read here and not by the kernel,
// for the directory of the script may be one whose files cannot be executed.
func (o *Order) scriptWords(path string) []string {
	first, _, _ := strings.Cut(o.Payload.Script, "\n")
	line, marked := strings.CutPrefix(strings.TrimSuffix(first, "\r"), "#!")
	if o.Payload.Interpreter != "" {
		line, marked = o.Payload.Interpreter, true
	}
	// As the kernel splits it: what stands behind the program is one argument.
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
