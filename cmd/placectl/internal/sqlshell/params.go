package sqlshell

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/text"
)

// MostNumbered is the greatest number of a parameter.
const MostNumbered = 1000

// numeral matches words that are numbers. 007 and 1e3 are texts.
var numeral = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`) })

// SetParam sets the value of a parameter, :NAME or a number for ?1. A word such as 12, -3 or 0.5 is a number, any other
// a text; so is an integer beyond 64 bits.
func (s *Settings) SetParam(name, value string) error {
	var v any = value
	if numeral().MatchString(value) {
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			v = n
		} else if f, err := strconv.ParseFloat(value, 64); err == nil && strings.Contains(value, ".") {
			v = f
		}
	}
	return s.setParam(name, v)
}

// SetParams sets parameters to the values of a JSON object: numbers, texts, true, false and null.
func (s *Settings) SetParams(text []byte) error {
	var object map[string]any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&object); err != nil {
		return fmt.Errorf(`%w; write an object such as {"user":"ann","1":0.5}`, err)
	}
	for name, v := range object {
		if number, ok := v.(json.Number); ok {
			n, err := number.Int64()
			if v = n; err != nil {
				if v, err = number.Float64(); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		switch v.(type) {
		case []any, map[string]any:
			return fmt.Errorf("%s is no number, text, true, false or null", name)
		}
		if err := s.setParam(name, v); err != nil {
			return err
		}
	}
	return nil
}

func (s *Settings) setParam(name string, v any) error {
	name = strings.TrimLeft(name, ":@$?")
	number, err := strconv.Atoi(name)
	switch {
	case name == "":
		return fmt.Errorf("a parameter needs a name")
	case err != nil:
		if s.Named == nil {
			s.Named = make(map[string]any)
		}
		s.Named[name] = v
	case number < 1 || number > MostNumbered:
		return fmt.Errorf("parameters are numbered from 1 to %d", MostNumbered)
	default:
		if s.Numbered == nil {
			s.Numbered = make(map[int]any)
		}
		s.Numbered[number] = v
	}
	return nil
}

// Args returns the numbered parameters in order, nil for missing ones.
func (s *Settings) Args() (args []any) {
	for n, v := range s.Numbered {
		for len(args) < n {
			args = append(args, nil)
		}
		args[n-1] = v
	}
	return args
}

// param runs the command .param: set, unset, list, clear.
func (s *Shell) param(arg string) error {
	what, rest, _ := strings.Cut(arg, " ")
	words, err := splitWords(rest)
	if err != nil {
		return usage.Of("shell", ".param: %w", err)
	}
	switch {
	case what == "set" && len(words) == 2 && strings.HasSuffix(strings.TrimSpace(rest), "'"):
		err = s.setParam(words[0], words[1]) // as text, even if it is digits
	case what == "set" && len(words) == 2:
		err = s.SetParam(words[0], words[1])
	case what == "unset" && len(words) == 1:
		name := strings.TrimLeft(words[0], ":@$?")
		number, _ := strconv.Atoi(name)
		delete(s.Named, name)
		delete(s.Numbered, number)
	case what == "clear" && len(words) == 0:
		s.Named, s.Numbered = nil, nil
	case (what == "list" || what == "") && len(words) == 0:
		return s.listParams()
	default:
		return usage.Of("shell", ".param: %s is none of set NAME VALUE, unset NAME, list, clear", text.Quoted(arg))
	}
	if err != nil {
		return usage.Of("shell", ".param: %w", err)
	}
	return nil
}

func (s *Shell) listParams() error {
	return s.answer(func(to *Settings) error {
		p := s.host.Printer(output.Result{Columns: []output.Column{{Name: "parameter"}, {Name: "value"}}}, to)
		for _, n := range slices.Sorted(maps.Keys(s.Numbered)) {
			p.Row(fmt.Sprintf("?%d", n), s.Numbered[n])
		}
		for _, name := range slices.Sorted(maps.Keys(s.Named)) {
			p.Row(":"+name, s.Named[name])
		}
		return p.Close()
	})
}
