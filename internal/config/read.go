// Package config reads the values of settings as people write them.
package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/text"
)

// Longest limits times, in seconds: a hundred years.
const Longest = 100 * 366 * 86400

// Duration reads a duration in the common notation, in whole seconds, not shorter than least.
func Duration(v string, least time.Duration, to *time.Duration) error {
	d, err := text.ParseDuration(v)
	switch {
	case err != nil:
		return err
	case d < least:
		return fmt.Errorf("%q is less than %s", v, text.FormatDuration(least))
	case d > Longest*time.Second:
		return fmt.Errorf("%q is more than a hundred years", v)
	case d%time.Second != 0:
		return fmt.Errorf("%q is not a whole number of seconds", v)
	}
	*to = d
	return nil
}

// Count reads a number up to a limit.
func Count(v string, most int, to *int) (err error) {
	if *to, err = strconv.Atoi(v); err != nil || *to < 0 || *to > most {
		return fmt.Errorf("%q is not a number from 0 to %d", v, most)
	}
	return nil
}

// Factor reads a number, which need not be whole, from 0 up to a limit.
func Factor(v string, most float64, to *float64) (err error) {
	if *to, err = strconv.ParseFloat(v, 64); err != nil || !(*to >= 0 && *to <= most) {
		return fmt.Errorf("%q is not a number from 0 to %v", v, most)
	}
	return nil
}

// Between reads a number within bounds.
func Between(v string, least, most int64, to *int64) (err error) {
	if *to, err = strconv.ParseInt(v, 10, 64); err != nil || *to < least || *to > most {
		return fmt.Errorf("%q is not a number from %d to %d", v, least, most)
	}
	return nil
}

// Word reads one of some words.
func Word(v string, to *string, words ...string) error {
	*to = v
	if slices.Contains(words, v) {
		return nil
	}
	return fmt.Errorf("%q is not %s or %s", v, strings.Join(words[:len(words)-1], ", "), words[len(words)-1])
}

func Bool(v string, to *bool) error {
	b, err := strconv.ParseBool(strings.ToLower(v))
	*to = b
	if err != nil {
		return fmt.Errorf("%q is neither true nor false", v)
	}
	return nil
}

func Resources(defs *index.Defs, v string, to *[]string, fit func(*index.Defs, index.Def) error) error {
	for name := range strings.SplitSeq(v, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		def, ok := defs.Lookup(name)
		if !ok {
			return fmt.Errorf("no resource %q%s: %w", name, index.DidYouMean(name, defs.Names()), row.ErrNotFound)
		}
		if err := fit(defs, def); err != nil {
			return err
		}
		if !slices.Contains(*to, def.Name) {
			*to = append(*to, def.Name)
		}
	}
	return nil
}

// Name reads a name of letters, digits, dots, dashes and underscores.
func Name(v string, to *string) error {
	if *to = v; v == "" || strings.ContainsFunc(v, func(c rune) bool {
		return c != '.' && c != '-' && c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9')
	}) {
		return fmt.Errorf("%q has characters other than letters, digits, dots, dashes and underscores", v)
	}
	return nil
}
