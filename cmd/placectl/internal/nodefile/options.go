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

// Options say how to read a file. The zero value is right for our own formats.
type Options struct {
	Format  string            // one of Formats; "" is auto
	Units   *Units            // nil gives none
	Columns map[string]Column // the meaning of fields, by the file's names

	// DefaultPartition is the Slurm partition that becomes no queue.
	DefaultPartition string

	// Beside reads a file next to the node file; ok is false if there is none. It is nil if there is no
	// folder.
	Beside func(name string) (data []byte, ok bool)
}

// Column says what to do with a field of a file: read it as a field of ours, or skip it.
type Column struct {
	Field string
	Unit  string // for values without a unit; one of the units of sizes, or s, min, h
	Skip  bool
}

// ParseColumns reads --map, HEADER=FIELD[:UNIT], and --skip, HEADER.
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
			return nil, fmt.Errorf("--map %s: %s is not a unit: B, KiB to TiB, s, min or h", text.Quoted(words),
				text.Quoted(c.Unit))
		}
		if _, twice := out[head]; twice {
			return nil, fmt.Errorf("--map %s: %s is mapped twice", text.Quoted(words), text.Quoted(head))
		}
		out[head] = c
	}
	for _, head := range skips {
		if _, twice := out[head]; twice || head == "" {
			return nil, fmt.Errorf("--skip %s: it is mapped, skipped twice, or not in the header", text.Quoted(head))
		}
		out[head] = Column{Skip: true}
	}
	return out, nil
}

// timeUnits are the seconds in units of time.
var timeUnits = map[string]float64{"s": 1, "min": 60, "h": 3600}

// complete adds a missing unit to a value.
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

// unmet fails for columns that the file lacks.
func (f *File) unmet() error {
	for _, head := range slices.Sorted(maps.Keys(f.opt.Columns)) {
		if !f.met[head] {
			return f.Errorf(0, "there is no field %s to map or skip%s", text.Quoted(head),
				index.DidYouMean(head, slices.Sorted(maps.Keys(f.seen))))
		}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
