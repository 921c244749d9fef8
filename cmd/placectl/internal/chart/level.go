package chart

// Ramp is the levels of a drawing of one line, from none to full: blocks where the
// terminal can show them, else ASCII.
func Ramp(blocks bool) []rune {
	if blocks {
		return []rune(" ▁▂▃▄▅▆▇█")
	}
	return []rune(" .:-=+*#@")
}

// Level is the character of a ramp for so many of so many. What is not nothing shows.
func Level(ramp []rune, some, all int64) rune {
	top := int64(len(ramp) - 1)
	all = max(all, 1)
	level := min((some*top+all/2)/all, top)
	if some > 0 {
		level = max(level, 1)
	}
	return ramp[level]
}
