package nodefile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// Options say how to read a file. The zero value works for our own formats.
type Options struct {
	Format  string            // one of Formats; "" is auto
	Units   *Units            // nil gives none
	Columns map[string]Column // what to do with fields, as the file calls them

	// DefaultPartition is the partition of Slurm that is no queue of its own.
	DefaultPartition string

	// Beside reads a file that lies beside the node file; ok is false if there is
	// none. Nil where nothing lies beside it.
	Beside func(name string) (data []byte, ok bool)
}

// Column is what to do with a field of a file: it is a field of ours, or passed over.
type Column struct {
	Field string
	Unit  string // for values without one; as sizes have it, or s, min and h
	Skip  bool
}

// ParseColumns reads what --map and --skip are given: HEADER=FIELD[:UNIT], and HEADER.
func ParseColumns(maps, skips []string) (map[string]Column, error) {
	if len(maps)+len(skips) == 0 {
		return nil, nil
	}
	out := make(map[string]Column)
	for _, words := range maps {
		i := strings.LastIndexByte(words, '=')
		if i <= 0 || i == len(words)-1 {
			return nil, fmt.Errorf("--map %s is not HEADER=FIELD[:UNIT], such as RAM=mem:GiB", text.Quoted(words))
		}
		head, c := words[:i], Column{}
		c.Field, c.Unit, _ = strings.Cut(words[i+1:], ":")
		if _, ok := timeUnits[c.Unit]; !ok && c.Unit != "" && (!isSize("1"+c.Unit) || index.BareSize("1"+c.Unit)) {
			return nil, fmt.Errorf("--map %s: %s is not a unit: B, KiB to TiB, s, min or h", text.Quoted(words), text.Quoted(c.Unit))
		}
		if _, twice := out[head]; twice {
			return nil, fmt.Errorf("--map %s: %s is mapped twice", text.Quoted(words), text.Quoted(head))
		}
		out[head] = c
	}
	for _, head := range skips {
		if _, twice := out[head]; twice || head == "" {
			return nil, fmt.Errorf("--skip %s: it is mapped, or skipped twice, or no header", text.Quoted(head))
		}
		out[head] = Column{Skip: true}
	}
	return out, nil
}

// timeUnits are how many seconds a unit of time has.
var timeUnits = map[string]float64{"s": 1, "min": 60, "h": 3600}

// complete gives a value the unit that it lacks.
func (c Column) complete(text string) string {
	if c.Unit == "" {
		return text
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text // it has a unit, or is no number: its reader reports that
	}
	if seconds, ok := timeUnits[c.Unit]; ok {
		return strconv.FormatFloat(n*seconds, 'f', -1, 64)
	}
	return text + c.Unit
}

// unmet are the columns that the file does not have.
func (f *File) unmet() error {
	for _, head := range slices.Sorted(maps.Keys(f.opt.Columns)) {
		if !f.met[head] {
			return f.Errorf(0, "there is no field %s to map or to skip%s", text.Quoted(head), index.DidYouMean(head, slices.Sorted(maps.Keys(f.seen))))
		}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
