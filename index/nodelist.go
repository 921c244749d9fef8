package index

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxNodeList limits how many names a node list may stand for.
const MaxNodeList = 1_000_000

// ErrNodeList says that a node list cannot be read; the text says where.
var ErrNodeList = errors.New("bad node list")

// EveryNode is the node list of all nodes. No node has this name.
const EveryNode = "all"

// SplitNodeList splits a node list at the commas outside brackets and quotes.
func SplitNodeList(s string) ([]string, error) {
	var items []string
	for at := 0; at <= len(s); {
		end, opened := nodeListItem(s, at)
		if opened >= 0 {
			return nil, fmt.Errorf("%w: the %q at character %d of %q is not closed", ErrNodeList, s[opened], opened+1,
				s)
		}
		item := strings.TrimSpace(s[at:end])
		if item == "" {
			return nil, fmt.Errorf("%w: no name at character %d of %q", ErrNodeList, at+1, s)
		}
		items = append(items, item)
		at = end + 1
	}
	return items, nil
}

// ExpandNodeList expands a folded list of node names: "node[001-003,7],rack2-n7" is node001
// node002 node003 node7 rack2-n7. A name may have several brackets; the last varies fastest.
// Leading zeros of a range's first number set its width. A name that itself contains brackets
// must be in double quotes: "vn[0]".
func ExpandNodeList(s string) ([]string, error) {
	items, err := SplitNodeList(s)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, item := range items {
		if name, ok := unquote(item); ok {
			names, err = expandName(names, name)
		} else {
			names, err = expandItem(names, "", item)
		}
		if err != nil {
			return nil, fmt.Errorf("%w (in %q)", err, item)
		}
	}
	return names, nil
}

// nodeListItem returns where the item that begins at a position ends: at a comma or at the end
// of the list. opened is where an unclosed bracket or quote is, or -1.
func nodeListItem(s string, at int) (end, opened int) {
	opened = -1
	for i := at; i < len(s); i++ {
		quoted := opened >= 0 && s[opened] == '"'
		switch c := s[i]; {
		case quoted && c == '"', !quoted && c == ']':
			opened = -1
		case quoted:
		case c == '"' || c == '[':
			opened = i
		case c == ',' && opened < 0:
			return i, -1
		}
	}
	return len(s), opened
}

// unquote removes the quotes of a quoted item.
func unquote(item string) (string, bool) {
	if len(item) < 2 || item[0] != '"' || item[len(item)-1] != '"' {
		return "", false
	}
	name := item[1 : len(item)-1]
	return name, !strings.Contains(name, `"`)
}

// expandName adds the names that one item stands for.
func expandName(names []string, name string) ([]string, error) {
	switch {
	case len(names) >= MaxNodeList:
		return nil, fmt.Errorf("%w: more than %d names", ErrNodeList, MaxNodeList)
	case name == "":
		return nil, fmt.Errorf("%w: an empty name", ErrNodeList)
	case len(name) > MaxNodeName:
		return nil, fmt.Errorf("%w: a name of more than %d bytes", ErrNodeList, MaxNodeName)
	case strings.Contains(name, `"`):
		return nil, fmt.Errorf("%w: quotes stand around a whole name", ErrNodeList)
	}
	return append(names, name), nil
}

func expandItem(names []string, prefix, rest string) ([]string, error) {
	if len(prefix) > MaxNodeName {
		return expandName(names, prefix) // it grows no shorter
	}
	head, tail, ok := strings.Cut(rest, "[")
	if !ok {
		if strings.Contains(rest, "]") {
			return nil, fmt.Errorf("%w: a closing bracket without its opening one", ErrNodeList)
		}
		return expandName(names, prefix+rest)
	}
	inside, tail, _ := strings.Cut(tail, "]")
	if strings.Contains(head, "]") || strings.Contains(inside, "[") {
		return nil, fmt.Errorf("%w: brackets do not match", ErrNodeList)
	}
	for part := range strings.SplitSeq(inside, ",") {
		lo, hi, width, err := parseRange(part)
		if err != nil {
			return nil, err
		}
		for i := range hi - lo + 1 {
			if names, err = expandItem(names, prefix+head+pad(lo+i, width), tail); err != nil {
				return nil, err
			}
		}
	}
	return names, nil
}

func parseRange(part string) (lo, hi int64, width int, err error) {
	first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
	if !isRange {
		last = first
	}
	lo, err1 := parseDigits(first)
	hi, err2 := parseDigits(last)
	switch {
	case err1 != nil || err2 != nil:
		return 0, 0, 0, fmt.Errorf("%w: %q is neither a number nor a range such as 1-16", ErrNodeList, part)
	case hi < lo:
		return 0, 0, 0, fmt.Errorf("%w: the range %q runs backwards", ErrNodeList, part)
	case hi-lo >= MaxNodeList:
		return 0, 0, 0, fmt.Errorf("%w: %q stands for more than %d names", ErrNodeList, part, MaxNodeList)
	}
	if first[0] == '0' || len(first) == len(last) {
		width = len(first)
	}
	return lo, hi, width, nil
}

func pad(n int64, width int) string {
	s := strconv.FormatInt(n, 10)
	if len(s) < width {
		s = strings.Repeat("0", width-len(s)) + s
	}
	return s
}

// FoldNodeList writes names as a short list, in the same order: runs of names that differ only
// in a rising number become one bracket. ExpandNodeList returns the names again.
func FoldNodeList(names []string) string {
	var b strings.Builder
	for i := 0; i < len(names); {
		i = foldGroup(&b, names, i)
	}
	return b.String()
}

// foldGroup writes names[i:] as far as they have the prefix, suffix and number width of
// names[i], and returns where it stopped.
func foldGroup(b *strings.Builder, names []string, i int) int {
	if i > 0 {
		b.WriteByte(',')
	}
	first, ok := splitNumber(names[i])
	if !ok {
		b.WriteString(quoteBrackets(names[i]))
		return i + 1
	}
	var ranges []string
	end := i
	for end < len(names) {
		lo, ok := splitNumber(names[end])
		if !ok || !lo.sameShape(first) {
			break
		}
		hi := lo
		run := end + 1
		for ; run < len(names); run++ {
			next, ok := splitNumber(names[run])
			if !ok || !next.sameShape(first) || next.n != hi.n+1 || next.digits != pad(next.n, len(lo.digits)) {
				break
			}
			hi = next
		}
		text := lo.digits
		if run > end+1 {
			text += "-" + hi.digits
		}
		ranges, end = append(ranges, text), run
	}
	if end == i+1 {
		b.WriteString(names[i])
		return end
	}
	b.WriteString(first.prefix + "[" + strings.Join(ranges, ",") + "]" + first.suffix)
	return end
}

// numbered is a name split at its last number.
type numbered struct {
	prefix, digits, suffix string
	n                      int64
}

func (a numbered) sameShape(b numbered) bool { return a.prefix == b.prefix && a.suffix == b.suffix }

func splitNumber(name string) (numbered, bool) {
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	end := len(name)
	for end > 0 && !isDigit(name[end-1]) {
		end--
	}
	start := end
	for start > 0 && isDigit(name[start-1]) && end-start < 18 {
		start--
	}
	if start == end || strings.ContainsAny(name, "[],") {
		return numbered{}, false
	}
	n, err := strconv.ParseInt(name[start:end], 10, 64)
	return numbered{name[:start], name[start:end], name[end:], n}, err == nil
}

// quoteBrackets quotes a name with brackets, so that it is not read as a list.
func quoteBrackets(name string) string {
	if strings.ContainsAny(name, "[]") {
		return `"` + name + `"`
	}
	return name
}

// MaxNodeName limits a node's name, in bytes.
const MaxNodeName = 255

// ValidNodeName reports whether a node may have a name: printable, without the characters that
// node lists, exec_vnodes and shells use themselves.
func ValidNodeName(s string) bool {
	if s == "" || len(s) > MaxNodeName || s[0] == '-' {
		return false
	}
	return !slices.ContainsFunc([]byte(s), func(c byte) bool {
		return c <= ' ' || c >= 0x7f || strings.IndexByte(`,()+:=*?"'`+"`"+`\$;&|<>#`, c) >= 0
	})
}
