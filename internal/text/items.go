package text

import (
	"errors"
	"strings"
)

// SplitItems splits a list such as A,B='x,y',C=x\,y at its commas, except those in quotes or
// after a backslash. It removes quotes, and backslashes before a comma, a quote or a
// backslash; any other backslash stands for itself.
func SplitItems(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	var items []string
	var item strings.Builder
	var quote byte
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '\\' && quote != '\'' && i+1 < len(list) && strings.IndexByte(itemMarks, list[i+1]) >= 0:
			i++
			item.WriteByte(list[i])
		case c == quote:
			quote = 0
		case quote != 0:
			item.WriteByte(c)
		case c == '\'' || c == '"':
			quote = c
		case c == ',':
			items = append(items, item.String())
			item.Reset()
		default:
			item.WriteByte(c)
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote in it is not closed")
	}
	return append(items, item.String()), nil
}

// itemMarks are the characters that have a special meaning for SplitItems.
const itemMarks = `,'"\`

// JoinItems writes a list that SplitItems splits into the same items.
func JoinItems(items []string) string {
	var b strings.Builder
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		for j := range len(item) {
			if strings.IndexByte(itemMarks, item[j]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(item[j])
		}
	}
	return b.String()
}

// SplitList splits a list such as a,b at its commas. It drops blanks around words, and empty
// words.
func SplitList(list string) (words []string) {
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}
