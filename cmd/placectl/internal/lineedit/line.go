package lineedit

import (
	"slices"
	"unicode"
)

// line is a text, and where the cursor stands in it.
type line struct {
	text []rune
	at   int
}

func (l *line) String() string { return string(l.text) }

func (l *line) set(text string) {
	l.text = []rune(text)
	l.at = len(l.text)
}

func (l *line) insert(text string) {
	runes := []rune(text)
	l.text = slices.Insert(slices.Clone(l.text), l.at, runes...)
	l.at += len(runes)
}

func (l *line) remove(from, to int) {
	from, to = max(from, 0), min(to, len(l.text))
	if from < to {
		l.text = slices.Delete(slices.Clone(l.text), from, to)
		l.at = from
	}
}

// span is what a key cuts out, from == to for none.
func (l *line) span(k code) (from, to int) {
	switch k {
	case keyCutWordLeft:
		return l.wordLeft(isWord), l.at
	case keyCutBlankLeft:
		return l.wordLeft(func(c rune) bool { return !unicode.IsSpace(c) }), l.at
	case keyCutWordRight:
		return l.at, l.wordRight()
	case keyCutLineStart:
		return l.start(), l.at
	case keyCutLineEnd:
		if to = l.end(); to == l.at && to < len(l.text) {
			to++ // the line feed
		}
		return l.at, to
	}
	return 0, 0
}

// move moves the cursor, or takes away the rune before it.
func (l *line) move(k code) {
	switch k {
	case keyBackspace:
		l.remove(l.at-1, l.at)
	case keyLeft:
		l.at = max(l.at-1, 0)
	case keyRight:
		l.at = min(l.at+1, len(l.text))
	case keyWordLeft:
		l.at = l.wordLeft(isWord)
	case keyWordRight:
		l.at = l.wordRight()
	case keyLineStart:
		l.at = l.start()
	case keyLineEnd:
		l.at = l.end()
	}
}

func isWord(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }

func (l *line) wordLeft(in func(rune) bool) int {
	i := l.at
	for i > 0 && !in(l.text[i-1]) {
		i--
	}
	for i > 0 && in(l.text[i-1]) {
		i--
	}
	return i
}

func (l *line) wordRight() int {
	i := l.at
	for i < len(l.text) && !isWord(l.text[i]) {
		i++
	}
	for i < len(l.text) && isWord(l.text[i]) {
		i++
	}
	return i
}

// start and end are those of the line that the cursor is in.
func (l *line) start() int {
	i := l.at
	for i > 0 && l.text[i-1] != '\n' {
		i--
	}
	return i
}

func (l *line) end() int {
	i := l.at
	for i < len(l.text) && l.text[i] != '\n' {
		i++
	}
	return i
}

// vertical moves the cursor to the line above or below, and reports whether there is one.
func (l *line) vertical(up bool) bool {
	start, end := l.start(), l.end()
	column := l.at - start
	to := line{l.text, end + 1}
	if up {
		to.at = start - 1
	}
	if to.at < 0 || to.at > len(l.text) {
		return false
	}
	first := to.start()
	to.at = first
	l.at = min(first+column, to.end())
	return true
}
