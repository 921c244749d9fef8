package verbs

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// need says whether a flag needs a value behind its name.
type need int

const (
	noSuchFlag need = iota
	takesNone
	takesOne
)

// takesValue looks a flag up, global ones first. A verb may have a switch of the same name, which
// is meant if the flag stands behind the verb without a value.
func (w *walker[R]) takesValue(name string) need {
	if f := FindGlobal(name); f != nil {
		if f.takesValue() {
			return takesOne
		}
		return takesNone
	}
	f := FindFlag(w.ownFlags(), name)
	if f == nil {
		return noSuchFlag
	}
	if IsSwitch(f) {
		return takesNone
	}
	return takesOne
}

// ownFlags returns the flags of the innermost verb.
func (w *walker[R]) ownFlags() []cli.Flag {
	if v := w.Leaf(); v != nil {
		return v.Flags
	}
	return nil
}

// FindFlag finds a flag by any of its names, nil if there is none.
func FindFlag(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

// IsSwitch tells flags that are on or off from those with a value.
func IsSwitch(f cli.Flag) bool {
	doc, ok := f.(cli.DocGenerationFlag)
	return ok && !doc.TakesValue()
}

// Dashed returns a flag's name with its dashes.
func Dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// flagWords lists the flags that a mistyped one may have meant.
func flagWords(own []cli.Flag) []string {
	var words []string
	for _, f := range own {
		for _, n := range f.Names() {
			words = append(words, Dashed(n))
		}
	}
	for i := range GlobalFlags {
		if !GlobalFlags[i].Hidden {
			words = append(words, "--"+GlobalFlags[i].Name)
		}
	}
	return words
}

// CheckValue refuses values that the cli package would refuse with a poorer explanation.
func CheckValue(f cli.Flag, value string) error {
	var err error
	switch f.(type) {
	case *cli.BoolFlag:
		_, err = text.ParseSwitch(value)
		return err
	case *cli.IntFlag, *cli.Int64Flag, *cli.IntSliceFlag, *cli.Int64SliceFlag:
		if _, err = strconv.ParseInt(value, 0, 64); err != nil {
			return fmt.Errorf("must be a whole number, not %q", value)
		}
	case *cli.UintFlag, *cli.Uint64Flag, *cli.UintSliceFlag, *cli.Uint64SliceFlag:
		if _, err = strconv.ParseUint(value, 0, 64); err != nil {
			return fmt.Errorf("must be a whole number of 0 or more, not %q", value)
		}
	case *cli.Float64Flag, *cli.Float64SliceFlag:
		if _, err = strconv.ParseFloat(value, 64); err != nil {
			return fmt.Errorf("must be a number, not %q", value)
		}
	}
	return nil
}
