package lineedit

import "strings"

// search is a search in the history, which Ctrl-R begins: the newest text that has some
// words in it, and with each further Ctrl-R an older one.
type search struct {
	words  string
	before line // the text that was there
	from   int  // how far back it looks from
	failed bool
}

func (s *search) prompt() string {
	if s.failed {
		return "(none with) " + s.words
	}
	return "(search) " + s.words
}

// searching does what a key says to the search. Other keys end it, and it is false.
func (e *Editor) searching(k key) bool {
	s := e.search
	switch k.code {
	case keyText, keyPaste:
		s.words += k.text
		s.from = 1
	case keyBackspace:
		if r := []rune(s.words); len(r) > 0 {
			s.words = string(r[:len(r)-1])
		}
		s.from = 1
	case keySearch:
		s.from++
	case keyEscape, keyInterrupt:
		e.line = s.before
		e.search = nil
		return true
	default:
		e.search = nil
		return false
	}
	s.failed = true
	for back := s.from; back <= e.History.Len(); back++ {
		if text := e.History.At(back); strings.Contains(strings.ToLower(text), strings.ToLower(s.words)) {
			e.line.set(text)
			s.from, s.failed = back, false
			break
		}
	}
	return true
}
