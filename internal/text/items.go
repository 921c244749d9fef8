package text

import (
	"errors"
	"fmt"
	"slices"
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

// Ranges writes whole numbers in ascending order, successive ones as a range: 0-2,5.
func Ranges[T int | uint64](list []T) string {
	return runs(slices.Sorted(slices.Values(list)), 1, func(r []T) string { return fmt.Sprint(r[0], "-", r[len(r)-1]) })
}

// Repeats writes numbers in their order as Slurm does, equal neighbours as one with their count:
// 4(x2),2.
func Repeats(list []int) string {
	return runs(list, 0, func(run []int) string { return fmt.Sprint(run[0], "(x", len(run), ")") })
}

// runs joins numbers by commas. many writes those that follow each other by a step.
func runs[T int | uint64](list []T, step T, many func(run []T) string) string {
	var parts []string
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n] == list[n-1]+step {
			n++
		}
		part := fmt.Sprint(list[0])
		if n > 1 {
			part = many(list[:n])
		}
		parts, list = append(parts, part), list[n:]
	}
	return strings.Join(parts, ",")
}
