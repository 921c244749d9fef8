package slurm

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// column is a column of a listing.
type column[T any] struct {
	head  string
	width int  // 0: as wide as its text
	right bool // aligned to the right
	value func(T) string
	after string // text after it
}

// field is something that a listing can show: its letter for %X, its name for -O, and its heading.
type field[T any] struct {
	letter byte
	name   string
	head   string
	value  func(T) string
}

// fields are the fields of one kind of listing.
type fields[T any] []field[T]

// percent reads %[.][N]X with text in between; lead is the text before the first.
func (fs fields[T]) percent(format string) (lead string, cols []column[T], err error) {
	lead, rest, more := strings.Cut(format, "%")
	for more {
		c := column[T]{}
		if strings.HasPrefix(rest, ".") {
			c.right, rest = true, rest[1:]
		}
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if c.width, err = widthOf(rest[:digits]); err != nil {
			return "", nil, err
		}
		if rest = rest[digits:]; rest == "" {
			return "", nil, saying("Invalid job format specification: %s", format)
		}
		letter := rest[0]
		c.after, rest, more = strings.Cut(rest[1:], "%")
		found := false
		for _, f := range fs {
			if f.letter == letter {
				c.head, c.value, found = f.head, f.value, true
				break
			}
		}
		if !found {
			return "", nil, saying("Invalid job format specification: %c", letter)
		}
		cols = append(cols, c)
	}
	return lead, cols, nil
}

// widest is the largest width of a column.
const widest = 10_000

func widthOf(digits string) (int, error) {
	if digits == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > widest {
		return 0, saying("Invalid field size: %s", digits)
	}
	return n, nil
}

// named reads NAME[:[.][N][TEXT]], joined by commas. The width is 20, and behind a colon without N
// that of the value.
func (fs fields[T]) named(format string) (cols []column[T], err error) {
	for word := range strings.SplitSeq(format, ",") {
		name, size, sized := strings.Cut(strings.TrimSpace(word), ":")
		c := column[T]{width: 20}
		if sized {
			c.width = 0
			if strings.HasPrefix(size, ".") {
				c.right, size = true, size[1:]
			}
			if digits := size[:len(size)-len(strings.TrimLeft(size, "0123456789"))]; digits != "" {
				if c.width, err = widthOf(digits); err != nil {
					return nil, err
				}
				size = size[len(digits):]
			}
			c.after = size
		}
		found := false
		for _, f := range fs {
			if f.name != "" && strings.EqualFold(f.name, name) {
				c.head, c.value, found = f.head, f.value, true
				break
			}
		}
		if !found {
			return nil, saying("Invalid job format specification: %s", name)
		}
		cols = append(cols, c)
	}
	return cols, nil
}

// listing is a table that is being written.
type listing[T any] struct {
	b    strings.Builder
	lead string
	cols []column[T]
}

func (l *listing[T]) header() {
	l.b.WriteString(l.lead)
	for _, c := range l.cols {
		c.write(&l.b, c.head)
	}
	l.b.WriteByte('\n')
}

func (l *listing[T]) row(v T) {
	l.b.WriteString(l.lead)
	for _, c := range l.cols {
		c.write(&l.b, c.value(v))
	}
	l.b.WriteByte('\n')
}

func (c *column[T]) write(b *strings.Builder, text string) {
	pad := 0
	if c.width > 0 {
		text = fronts.Cut(text, c.width, "")
		pad = c.width - utf8.RuneCountInString(text)
	}
	if c.right {
		b.WriteString(strings.Repeat(" ", pad))
	}
	b.WriteString(text)
	if !c.right {
		b.WriteString(strings.Repeat(" ", pad))
	}
	b.WriteString(c.after)
}
