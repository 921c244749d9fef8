package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/urfave/cli/v2"
)

// need says what a flag wants after its name.
type need int

const (
	noSuchFlag need = iota
	takesNone
	takesOne
)

// takesValue looks a flag up, the global ones first: no verb may redefine them.
func (w *walker) takesValue(name string) need {
	if f := findGlobal(name); f != nil {
		if f.takesValue() {
			return takesOne
		}
		return takesNone
	}
	f := findFlag(w.ownFlags(), name)
	if f == nil {
		return noSuchFlag
	}
	if isSwitch(f) {
		return takesNone
	}
	return takesOne
}

// ownFlags are the flags of the innermost verb.
func (w *walker) ownFlags() []cli.Flag {
	if v := w.leaf(); v != nil {
		return v.Flags
	}
	return nil
}

func findFlag(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		for _, n := range f.Names() {
			if n == name {
				return f
			}
		}
	}
	return nil
}

// isSwitch tells flags that are on or off from those with a value.
func isSwitch(f cli.Flag) bool {
	doc, ok := f.(cli.DocGenerationFlag)
	return ok && !doc.TakesValue()
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// flagWords lists what a mistyped flag may have meant.
func flagWords(own []cli.Flag) []string {
	var words []string
	for _, f := range own {
		for _, n := range f.Names() {
			words = append(words, dashed(n))
		}
	}
	for i := range globalFlags {
		words = append(words, "--"+globalFlags[i].name)
	}
	return words
}

// checkValue refuses what the cli package would refuse with less of an
// explanation.
func checkValue(f cli.Flag, value string) error {
	var err error
	switch f.(type) {
	case *cli.BoolFlag:
		_, err = spell.ParseSwitch(value)
		return err
	case *cli.IntFlag, *cli.Int64Flag, *cli.IntSliceFlag, *cli.Int64SliceFlag:
		if _, err = strconv.ParseInt(value, 0, 64); err != nil {
			return fmt.Errorf("wants a whole number, not %q", value)
		}
	case *cli.UintFlag, *cli.Uint64Flag, *cli.UintSliceFlag, *cli.Uint64SliceFlag:
		if _, err = strconv.ParseUint(value, 0, 64); err != nil {
			return fmt.Errorf("wants a whole number that is not negative, not %q", value)
		}
	case *cli.Float64Flag, *cli.Float64SliceFlag:
		if _, err = strconv.ParseFloat(value, 64); err != nil {
			return fmt.Errorf("wants a number, not %q", value)
		}
	}
	return nil
}

// time reads a flag's value as an instant; the zero time when it is not given.
func (r *runner) time(c *cli.Context, flag string) (time.Time, error) {
	s := c.String(flag)
	if s == "" && !c.IsSet(flag) {
		return time.Time{}, nil
	}
	t, err := spell.ParseTime(s, r.now(), r.loc)
	if err != nil {
		return time.Time{}, usagef("%s: %w", dashed(flag), err)
	}
	return t, nil
}

// duration reads a flag's value as a duration; 0 when it is not given.
func (r *runner) duration(c *cli.Context, flag string) (time.Duration, error) {
	s := c.String(flag)
	if s == "" && !c.IsSet(flag) {
		return 0, nil
	}
	d, err := spell.ParseDuration(s)
	if err != nil {
		return 0, usagef("%s: %w", dashed(flag), err)
	}
	return d, nil
}

// oneOf checks a flag whose value is one of a few words.
func oneOf(c *cli.Context, flag string, words ...string) (string, error) {
	value := c.String(flag)
	for _, w := range words {
		if value == w {
			return value, nil
		}
	}
	return "", usagef("%s: %w", dashed(flag), spell.NotOneOf(value, words))
}
