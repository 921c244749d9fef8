package spell

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// SplitWords takes a line apart into words as a shell does, and expands nothing:
// single quotes keep all, double quotes all but \" and \\, a backslash the next
// character, and a # at the beginning of a word is a comment up to the end of the
// line. The libraries tried stop at | or &, which are ordinary characters here
// (features=a|b), or cannot say where a quote was opened.
func SplitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	begun := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t', '\r', '\n':
			if begun {
				words = append(words, word.String())
				word.Reset()
			}
			begun = false
			continue
		case '#':
			if !begun {
				return words, nil
			}
			word.WriteByte(c)
		case '\'', '"':
			end, err := quotedPart(&word, line, i)
			if err != nil {
				return nil, err
			}
			i = end
		case '\\':
			if i++; i == len(line) {
				return nil, errors.New("there is nothing behind the backslash at its end")
			}
			word.WriteByte(line[i])
		default:
			word.WriteByte(c)
		}
		begun = true
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}

// List writes words for a sentence, with a word before the last: "csv, json or xml".
func List(words []string, before string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + before + " " + words[last]
}

// JoinWords writes words as SplitWords, and a shell, would take them apart again.
func JoinWords(list []string) string {
	words := make([]string, len(list))
	for i, word := range list {
		words[i] = ShellWord(word)
	}
	return strings.Join(words, " ")
}

// ShellWord quotes a word where a shell would not take it as it stands.
func ShellWord(word string) string {
	switch {
	case !IsPrintable(word):
		return strconv.Quote(word)
	case word == "" || strings.ContainsAny(word, " \t\"'\\`$&|;<>()*?[]#~{}!^"):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// quotedPart adds what stands between the quote at a place and the one that closes
// it, and returns where that is.
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
