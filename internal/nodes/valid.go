package nodes

import (
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/priorityf"
)

// Valid refuses an unusable node: a name that cannot be written, amounts that cannot be computed
// with, devices that no job could get.
func Valid(defs *index.Defs, n *index.Node) error {
	if !index.ValidNodeName(n.Name) {
		return fmt.Errorf("%w node name %q: it must be printable, without spaces, commas, quotes and ()+:=*?",
			row.ErrInvalid, n.Name)
	}
	for _, valid := range []func(*index.Defs, *index.Node) error{validFields, validAmounts, validPriorityF,
		validDevices} {
		if err := valid(defs, n); err != nil {
			return err
		}
	}
	return nil
}

// ValidLoad refuses an invalid load.
func ValidLoad(n *index.Node, load float64) error {
	if !index.ValidLoad(load) {
		return wrongField(n, "load", load, loads)
	}
	return nil
}

// validAmounts refuses amounts that cannot be computed with.
func validAmounts(defs *index.Defs, n *index.Node) error {
	for _, a := range n.Res {
		def, ok := defs.Get(a.Res)
		switch {
		case !ok:
			return fmt.Errorf("%w resource %d of node %s: there is none of this number", row.ErrInvalid, a.Res, n.Name)
		case a.Value.Num < 0 || a.Value.Num > index.MaxAmount:
			return fmt.Errorf("%w %s of node %s: %s; it must be from 0 to %s", row.ErrInvalid, def.Name, n.Name,
				def.Format(a.Value), def.Format(index.Value{Num: index.MaxAmount}))
		}
	}
	return nil
}

// validFields refuses values that would make computations wrong.
func validFields(_ *index.Defs, n *index.Node) error {
	switch {
	case n.Speed != 0 && !index.ValidSpeed(n.Speed):
		return wrongField(n, "speed", n.Speed, speeds)
	case n.ProcSpeed != 0 && !index.ValidSpeed(n.ProcSpeed):
		return wrongField(n, "procspeed", n.ProcSpeed, speeds)
	case !index.ValidLoad(n.Load):
		return wrongField(n, "load", n.Load, loads)
	case !index.ValidUsage(n.Usage):
		return wrongField(n, "usage", n.Usage, "a number from 0 to 1")
	case !n.Access.Valid():
		return wrongField(n, "access", n.Access, "one that package index names")
	case !n.Sharing.Valid():
		return wrongField(n, "sharing", n.Sharing, "one that package index names")
	}
	return nil
}

func wrongField(n *index.Node, field string, value any, must string) error {
	return fmt.Errorf("%w %s %v of node %s: it must be %s", row.ErrInvalid, field, value, n.Name, must)
}

const (
	speeds = "a finite number above 0, or 0 where it is not set"
	loads  = "a finite number of 0 or more"
)

func validPriorityF(defs *index.Defs, n *index.Node) error {
	if n.PriorityF == "" {
		return nil
	}
	if _, err := priorityf.Parse(defs, n.PriorityF); err != nil {
		return fmt.Errorf("%w priorityf of node %s: %w", row.ErrInvalid, n.Name, err)
	}
	return nil
}
