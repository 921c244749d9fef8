package infile

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestRecords(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"b,a\n1, x \n\n2,\"y\"\n", "2:[x 1] 4:[y 2]"},
		{"\xef\xbb\xbf\n\na\nx\n", "4:[x ]"},
		{"{\"a\":[\"x\",\"y\"],\"b\":1}\r\n\n{\"b\":null}", "1:[x|y 1] 3:[ ]"},
		{"", "list, line 1, column 1: the list is empty"},
		{"\n[{}]", "list, line 2, column 1: an array; write one object per line"},
		{"\naa,b\n", "list, line 2, column 1: there is no column aa; the columns are a, b"},
		{"a,a\n", "list, line 1, column 1: the column a appears twice"},
		{"\na,b\n1,2\n1\n", "3:[1 2] list, line 4, column 1: wrong number of fields"},
		{"{\"a\":true}", "list, line 1, column 1: a: expected a text or a number, not true"},
		{"a\n" + strings.Repeat("x", 3*MaxLine), "list, line 1, column 1: the record has more than 1048576 bytes"},
		{"a\n\"" + strings.Repeat("x\n", 2*MaxLine), "list, line 1, column 1: the record has more than 1048576 bytes"},
		{strings.Repeat("\x00", 3*MaxLine), "list, line 1, column 1: the record has more than 1048576 bytes"},
		{"a\nbad\n", "list, line 2, column 1: refused"},
	} {
		var got []string
		err := Records(strings.NewReader(c.in), "list", []string{"a", "b"}, func(int64) {},
			func(line int, cells []string) error {
				if cells[0] == "bad" {
					return errors.New("refused")
				}
				got = append(got, fmt.Sprintf("%d:%v", line, cells))
				return nil
			})
		if err != nil {
			got = append(got, err.Error())
			if !errors.Is(err, ErrInput) {
				t.Errorf("Records(%q): %v does not match ErrInput", c.in, err)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("Records(%q) =\n%s\nwant\n%s", c.in, text, c.want)
		}
	}
}
