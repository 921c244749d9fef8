package infile

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strconv"
	"sync"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// DecodeStrictly decodes raw, which begins at offset at in the file, into what to points to. Unknown
// members are errors, with a suggestion from the known words. what is the value's name in errors.
func (f *Text) DecodeStrictly(what string, raw []byte, at int, to any, known []string) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(to)
	var typed *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &typed):
		if typed.Field != "" {
			what += "." + typed.Field
		}
		return f.Errorf(at+literalStart(raw, int(typed.Offset)), "%s: %s where %s belongs", what, typed.Value,
			kindWord(typed.Type.Kind()))
	}
	if m := unknownMember().FindStringSubmatch(err.Error()); m != nil {
		word, _ := strconv.Unquote(m[1])
		return f.Errorf(at+max(0, bytes.Index(raw, []byte(m[1]))), "%s: there is no %s%s", what, text.Quoted(word),
			index.DidYouMean(word, known))
	}
	return f.Errorf(at, "%s: %w", what, err)
}

// unknownMember matches the error of encoding/json for an unknown member, which has no type. It is
// compiled at the first use, because most runs meet no such error.
var unknownMember = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^json: unknown field ("(?:[^"\\]|\\.)*")$`)
})

// literalStart returns where a refused value begins. The decoder only tells where it ends, or for a
// list or an object the byte after its first.
func literalStart(raw []byte, end int) int {
	i := min(end, len(raw)) - 1
	if i < 0 || raw[i] == '[' || raw[i] == '{' {
		return max(0, i)
	}
	if raw[i] == '"' {
		for i--; i > 0 && (raw[i] != '"' || raw[i-1] == '\\'); i-- {
		}
		return max(0, i)
	}
	for i > 0 && !bytes.ContainsRune([]byte(":,[{ \t\r\n"), rune(raw[i-1])) {
		i--
	}
	return i
}

// kindWord says what a value should be.
func kindWord(k reflect.Kind) string {
	switch k {
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}
