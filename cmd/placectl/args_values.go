package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/placectl/placectl/index"
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
	if c := w.command(); c != nil {
		return c.Flags
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

// ownFlagWord writes a flag as one word, under its first name, so that -t and
// --walltime are the same flag to cli.
func ownFlagWord(f cli.Flag, value string) string {
	word := dashed(f.Names()[0])
	if isSwitch(f) && value == "true" {
		return word
	}
	return word + "=" + value
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
		_, err = parseSwitch(value)
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

func parseSwitch(value string) (bool, error) {
	on, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("is on or off: give it no value, or true or false, not %q", value)
	}
	return on, nil
}

// verbName is what errors call the verb that runs: "node import". (cli's own
// names leave out the verbs above it, or grow each time a command runs.)
func verbName(c *cli.Context) string {
	name, _ := c.App.Metadata[verbKey].(string)
	return name
}

// wantArgs checks how many arguments a verb got; most below 0 is no limit.
func wantArgs(c *cli.Context, least, most int) error {
	n := c.NArg()
	what := ""
	if c.Command.ArgsUsage != "" {
		what = " (" + c.Command.ArgsUsage + ")"
	}
	switch verb := verbName(c); {
	case n < least && least == most:
		return usagef(verb, "wants %s%s, got %d", plural(least, "argument"), what, n)
	case n < least:
		return usagef(verb, "wants at least %s%s, got %d", plural(least, "argument"), what, n)
	case most == 0 && n > 0:
		return usagef(verb, "takes no arguments, got %s", quoted(c.Args().First()))
	case most > 0 && n > most:
		return usagef(verb, "takes at most %s%s, got one more: %s", plural(most, "argument"), what, quoted(c.Args().Get(most)))
	}
	return nil
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// oneOf checks a flag whose value is one of a few words.
func oneOf(c *cli.Context, flag string, words ...string) (string, error) {
	value := c.String(flag)
	for _, w := range words {
		if value == w {
			return value, nil
		}
	}
	return "", usagef(verbName(c), "%s: %w", dashed(flag), wordError(value, words))
}

func wordError(value string, words []string) error {
	text := quoted(value) + " is not one of "
	for i, w := range words {
		if i > 0 {
			text += ", "
		}
		text += w
	}
	return errors.New(text + index.DidYouMean(value, words))
}
