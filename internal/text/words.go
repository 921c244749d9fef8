package text

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Word is a word of a line, and its position.
type Word struct {
	Text    string
	At      int // the byte of the line at which it begins, with its quote
	Expands int // the byte of the first $ or ` that a shell would expand; -1 if there is none
}

// SplitWords splits a line into words as a shell does, and expands nothing. Single quotes keep
// everything, double quotes everything except \" and \\, and a backslash keeps the next
// character. A # at the beginning of a word begins a comment up to the end of the line. The
// libraries that were tried stop at | or &, which are ordinary characters here (features=a|b),
// or cannot say where a quote was opened.
func SplitWords(line string) ([]string, error) {
	words, err := Words(line)
	if words == nil {
		return nil, err
	}
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.Text
	}
	return list, nil
}

// Words does what SplitWords does, for callers that report positions in the line, or that a
// shell would have expanded a word.
func Words(line string) ([]Word, error) {
	var words []Word
	var text strings.Builder
	begun, word := false, Word{Expands: -1}
	for i := 0; i <= len(line); i++ {
		if i == len(line) || strings.IndexByte(" \t\r\n", line[i]) >= 0 {
			if begun {
				word.Text = text.String()
				words = append(words, word)
				text.Reset()
			}
			begun, word = false, Word{Expands: -1}
			continue
		}
		if !begun {
			if line[i] == '#' {
				return words, nil
			}
			word.At, begun = i, true
		}
		switch c := line[i]; c {
		case '\'', '"':
			end, err := quotedPart(&text, line, i)
			if err != nil {
				return nil, err
			}
			if c == '"' {
				word.sees(line, i, end)
			}
			i = end
		case '\\':
			if i++; i == len(line) {
				return nil, errors.New("a backslash is the last character")
			}
			text.WriteByte(line[i])
		default:
			word.sees(line, i, i+1)
			text.WriteByte(c)
		}
	}
	return words, nil
}

// sees notes what a shell would expand in a part of the line.
func (w *Word) sees(line string, from, to int) {
	if i := strings.IndexAny(line[from:to], "$`"); i >= 0 && w.Expands < 0 {
		w.Expands = from + i
	}
}

// List writes words for a sentence, with a word before the last: "csv, json or xml".
func List(words []string, before string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + before + " " + words[last]
}

// JoinWords writes words that SplitWords, and a shell, would split again.
func JoinWords(list []string) string {
	words := make([]string, len(list))
	for i, word := range list {
		words[i] = ShellWord(word)
	}
	return strings.Join(words, " ")
}

// ShellWord quotes a word if a shell would not read it as it is.
func ShellWord(word string) string {
	switch {
	case !IsPrintable(word):
		return strconv.Quote(word)
	case word == "" || strings.ContainsAny(word, " \t\"'\\`$&|;<>()*?[]#~{}!^"):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// quotedPart adds what is between the quote at a position and the one that closes it, and
// returns the position of the latter.
func quotedPart(word *strings.Builder, line string, at int) (int, error) {
	quote := line[at]
	for i := at + 1; i < len(line); i++ {
		switch c := line[i]; {
		case c == quote:
			return i, nil
		case c == '\\' && quote == '"' && i+1 < len(line) && (line[i+1] == '"' || line[i+1] == '\\'):
			i++
			word.WriteByte(line[i])
		default:
			word.WriteByte(c)
		}
	}
	return 0, fmt.Errorf("the quote at column %d is not closed", at+1)
}

// ShellLine writes words so that a shell reads exactly them. JoinWords is for people, who do
// not want a line break inside a word as one.
func ShellLine(list []string) string {
	words := make([]string, len(list))
	for i, word := range list {
		plain := word != "" && word[0] != '=' && strings.IndexFunc(word, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
				strings.ContainsRune("_@%+=:,./-", r))
		}) < 0
		if words[i] = word; !plain {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
