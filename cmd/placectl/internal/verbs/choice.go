package verbs

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// choice is a flag whose value is one of a few words.
type choice struct {
	*cli.StringFlag
	words []string
}

// choices is a flag that takes several such values.
type choices struct {
	*cli.StringSliceFlag
	words []string
}

// Choice makes a flag whose value is one of a few words. Help lists them after the flag's usage but
// before its last parentheses. A usage with a colon explains them itself.
func Choice(f *cli.StringFlag, words ...string) cli.Flag {
	if !strings.Contains(f.Usage, ": ") {
		use, more, ends := strings.Cut(f.Usage, " (")
		f.Usage = use + ": " + text.List(words, "or")
		if ends {
			f.Usage += " (" + more
		}
	}
	return &choice{f, words}
}

// Choices makes a flag that takes several of a few words, which its usage explains.
func Choices(f *cli.StringSliceFlag, words ...string) cli.Flag { return &choices{f, words} }

// wordsOf returns the words that a flag takes, nil if it takes any value.
func wordsOf(f cli.Flag) []string {
	switch f := f.(type) {
	case *choice:
		return f.words
	case *choices:
		return f.words
	}
	return nil
}

// Chosen returns the value of a Choice, "" if it was not given and has no default.
func Chosen(c *cli.Context, flag string) (string, error) {
	value := c.String(flag)
	if f := FindFlag(c.Command.Flags, flag); f != nil && !slices.Contains(wordsOf(f), value) {
		return "", usage.Errorf("%s: %w", Dashed(flag), text.NotOneOf(value, wordsOf(f)))
	}
	return value, nil
}
