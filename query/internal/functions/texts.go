package functions

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/values"
)

func length(_ *Budget, a []values.Value) values.Value {
	text := a[0].String()
	if i := strings.IndexByte(text, 0); i >= 0 {
		text = text[:i]
	}
	return values.Int(int64(utf8.RuneCountInString(text)))
}

// substr counts characters from 1, or backwards from -1. With a negative length it returns
// those before.
func substr(_ *Budget, a []values.Value) values.Value {
	text := []rune(a[0].String())
	n := int64(len(text))
	from, count := a[1].AsInt(), int64(math.MaxInt64)
	if len(a) == 3 {
		count = a[2].AsInt()
	}
	switch {
	case from < 0:
		if from += n; from < 0 {
			count = max(count, 0) + from
			from = 0
		}
	case from > 0:
		from--
	case count > 0:
		count--
	}
	if count < 0 {
		count = -max(count, -from)
		from -= count
	}
	from = min(from, n)
	return values.String(string(text[from : from+min(count, n-from)]))
}

func trimmer(cut func(s, set string) string) func(*Budget, []values.Value) values.Value {
	return func(_ *Budget, a []values.Value) values.Value {
		set := " "
		if len(a) == 2 {
			set = a[1].String()
		}
		if set == "" {
			return values.String(a[0].String())
		}
		return values.String(cut(a[0].String(), set))
	}
}

func replace(e *Budget, a []values.Value) values.Value {
	text, old, new := a[0].String(), a[1].String(), a[2].String()
	switch {
	case a[0].Kind() == values.Null || a[1].Kind() == values.Null:
		return values.Value{}
	case old == "": // without looking at the replacement
		return values.String(text)
	case a[2].Kind() == values.Null:
		return values.Value{}
	}
	if grown := len(text) + strings.Count(text, old)*(len(new)-len(old)); grown > maxString {
		return e.Fail(&fault.LimitError{What: "bytes in one text", Limit: maxString})
	}
	return values.String(strings.ReplaceAll(text, old, new))
}

func instr(_ *Budget, a []values.Value) values.Value {
	text := a[0].String()
	at := strings.Index(text, a[1].String())
	if at < 0 {
		return values.Int(0)
	}
	return values.Int(int64(utf8.RuneCountInString(text[:at])) + 1)
}

// inNodelist reports whether a name is in a node list such as n[1-9].
func inNodelist(e *Budget, a []values.Value) values.Value {
	names, err := index.ExpandNodeList(a[1].String())
	if err != nil {
		return e.Fail(fmt.Errorf("%w: %w", fault.ErrQuery, err))
	}
	want := a[0].String()
	for _, name := range names {
		if name == want {
			return values.Int(1)
		}
	}
	return values.Int(0)
}

func hasWord(_ *Budget, a []values.Value) values.Value {
	return values.Bool(values.HasWord(a[0].String(), a[1].String()))
}
