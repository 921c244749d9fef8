package main

import "strings"

// The levels of a drawing, from none to full.
const (
	rampBlocks = " ▁▂▃▄▅▆▇█"
	rampASCII  = " .:-=+*#@"
)

// ramp is the levels that the terminal can show.
func (r *runner) ramp() []rune {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(r.getenv(name)); v != "" {
			if strings.Contains(v, "utf-8") || strings.Contains(v, "utf8") {
				return []rune(rampBlocks)
			}
			break
		}
	}
	return []rune(rampASCII)
}
