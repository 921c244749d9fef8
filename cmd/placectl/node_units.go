package main

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
	"github.com/urfave/cli/v2"
)

// In a description of nodes a size must have a unit, for 64 is as likely meant in
// GiB as in bytes. --unit gives one to those that have none.

const unitName = "unit"

// unitFlag is a flag of the verbs that read descriptions of nodes.
func unitFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: unitName, Usage: "sizes without a unit are in `U`, such as gb; mem=gb for one resource; may be repeated"}
}

// sizeUnits are the units that --unit gives. Its zero value gives none.
type sizeUnits struct {
	all string
	of  map[index.ResID]string
}

// readUnits reads --unit.
func readUnits(c *cli.Context, defs *index.Defs) (*sizeUnits, error) {
	u := &sizeUnits{of: make(map[index.ResID]string)}
	for _, given := range c.StringSlice(unitName) {
		for _, word := range strings.Split(given, ",") {
			if err := u.read(defs, strings.TrimSpace(word)); err != nil {
				return nil, usagef(verbName(c), "--unit %w", err)
			}
		}
	}
	return u, nil
}

func (u *sizeUnits) read(defs *index.Defs, word string) error {
	name, unit, one := strings.Cut(word, "=")
	if !one {
		unit = word
	}
	if one1 := "1" + unit; index.BareSize(one1) || !isSize(one1) {
		return fmt.Errorf("%s: %s is not a unit: write b (bytes), kb, mb, gb, tb or pb, or RESOURCE=gb", spell.Quoted(word), spell.Quoted(unit))
	}
	if !one {
		if u.all != "" && u.all != unit {
			return fmt.Errorf("is %s and %s for all; write RESOURCE=%s for one of them", u.all, unit, unit)
		}
		u.all = unit
		return nil
	}
	def, ok := defs.Lookup(name)
	switch {
	case !ok:
		return fmt.Errorf("%s: no resource %s%s", spell.Quoted(word), spell.Quoted(name), index.DidYouMean(name, defs.Names()))
	case def.Type != index.Size:
		return fmt.Errorf("%s: %s is a %s; only sizes have a unit", spell.Quoted(word), def.Name, def.Type)
	case u.of[def.ID] != "" && u.of[def.ID] != unit:
		return fmt.Errorf("is %s and %s for %s", u.of[def.ID], unit, def.Name)
	}
	u.of[def.ID] = unit
	return nil
}

func isSize(s string) bool {
	_, err := index.ParseSizeLoose(s)
	return err == nil
}

// complete gives a value of a node the unit that it lacks. Without one to give, the
// error names the choices.
func (u *sizeUnits) complete(k nodeKey, text string) (string, error) {
	if k.field >= 0 || k.def.Type != index.Size || !index.BareSize(text) {
		return text, nil
	}
	unit := u.of[k.def.ID]
	if unit == "" {
		unit = u.all
	}
	if unit == "" {
		return text, fmt.Errorf("%s has no unit: write %[1]sgb, %[1]smb, %[1]skb or %[1]sb (bytes), or say what it is in with --unit %s=gb", text, k.def.Name)
	}
	return text + unit, nil
}
