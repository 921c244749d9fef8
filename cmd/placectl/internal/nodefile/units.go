package nodefile

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// In a description of nodes a size must have a unit, because 64 may mean GiB as well as bytes. --unit
// gives one to sizes without.

// Units are the units given by --unit. The zero value has none.
type Units struct {
	all string
	of  map[index.ResID]string
}

// ParseUnits reads the values of --unit, each a list separated by commas.
func ParseUnits(given []string, defs *index.Defs) (*Units, error) {
	u := &Units{of: make(map[index.ResID]string)}
	for _, list := range given {
		for word := range strings.SplitSeq(list, ",") {
			if err := u.read(defs, strings.TrimSpace(word)); err != nil {
				return nil, err
			}
		}
	}
	return u, nil
}

func (u *Units) read(defs *index.Defs, word string) error {
	name, unit, one := strings.Cut(word, "=")
	if !one {
		unit = word
	}
	if one1 := "1" + unit; index.BareSize(one1) || !isSize(one1) {
		return fmt.Errorf("%s: %s is not a unit: write b (bytes), kb, mb, gb, tb or pb, or RESOURCE=gb",
			text.Quoted(word), text.Quoted(unit))
	}
	if !one {
		if u.all != "" && u.all != unit {
			return fmt.Errorf("is both %s and %s for all; write RESOURCE=%s for one of them", u.all, unit, unit)
		}
		u.all = unit
		return nil
	}
	def, ok := defs.Lookup(name)
	switch {
	case !ok:
		return fmt.Errorf("%s: no resource %s%s", text.Quoted(word), text.Quoted(name),
			index.DidYouMean(name, defs.Names()))
	case def.Type != index.Size:
		return fmt.Errorf("%s: %s is a %s; only sizes have a unit", text.Quoted(word), def.Name, def.Type)
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

// complete adds a missing unit to a value. If there is no unit to add, the error names the choices.
func (u *Units) complete(k key, text string) (string, error) {
	if k.field >= 0 || k.def.Type != index.Size || !index.BareSize(text) {
		return text, nil
	}
	unit := u.of[k.def.ID]
	if unit == "" {
		unit = u.all
	}
	if unit == "" {
		return text, fmt.Errorf("%s has no unit: write %[1]sgb, %[1]smb, %[1]skb or %[1]sb (bytes), or give the unit "+
			"with --unit %s=gb", text, k.def.Name)
	}
	return text + unit, nil
}
