package text

import (
	"strings"
	"time"
)

// Messages and reasons are written, and stored in the file, with times in UTC (RFC 3339),
// because readers may be in other time zones. Programs get them like that. People get them in
// the form and zone of tables.

// stampLength is the length of such a time: 2026-11-20T09:30:00Z.
const stampLength = len("2006-01-02T15:04:05Z")

// LocalTimes converts the times in a text of ours to loc. A time in quotes, or inside a longer
// word, belongs to a user and stays as it is.
func LocalTimes(s string, loc *time.Location) string {
	if !strings.Contains(s, "Z") {
		return s
	}
	var b []byte
	from, quoted := 0, false
	for i := 0; i+stampLength <= len(s); i++ {
		switch s[i] {
		case '"':
			quoted = !quoted
		case '\\':
			i++ // what it escapes does not begin a time
		}
		end := i + stampLength
		if quoted || end > len(s) || s[end-1] != 'Z' || !isDigit(s[i]) || i > 0 && !strings.ContainsRune(" (",
			rune(s[i-1])) || end < len(s) && !endsTime(s[end:]) {
			continue
		}
		at, err := time.Parse(time.RFC3339, s[i:end])
		if err != nil {
			continue
		}
		b = AppendLocal(append(b, s[from:i]...), at.Unix(), loc)
		from, i = end, end-1
	}
	if b == nil {
		return s
	}
	return string(append(b, s[from:]...))
}

// endsTime reports whether a time ends before rest.
func endsTime(rest string) bool {
	mark := strings.TrimLeft(rest, ",;:.)")
	return mark == "" || mark[0] == ' ' || mark[0] == '\n'
}
