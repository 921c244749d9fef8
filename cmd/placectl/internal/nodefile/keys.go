package nodefile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// key says what a column of a node file, or the key of key=value, is about.
type key struct {
	name     string
	field    int       // position in fields, -1 for a resource
	def      index.Def // the resource
	isName   bool
	devices  bool   // all devices of the node
	computed bool   // a column of `node list` that is computed, and cannot be set
	skip     bool   // an ignored column
	unit     Column // from --map, for its values
}

// findKey finds out what a column or key is about, in any case. sample is one of its values, from which
// the type of an undeclared resource is guessed.
func findKey(defs *index.Defs, word, sample string) (key, error) {
	name := strings.ToLower(word)
	switch name {
	case "name":
		return key{name: name, field: -1, isName: true}, nil
	case "devices":
		return key{name: name, field: -1, devices: true}, nil
	case "number", "bucket", "jobs", "free_until":
		return key{name: name, field: -1, computed: true}, nil
	case "feature":
		return key{}, fmt.Errorf("%s is not a field of nodes; did you mean features?", word)
	}
	for i := range fields {
		if fields[i].name == name {
			return key{name: name, field: i}, nil
		}
	}
	if def, ok := defs.Lookup(word); ok {
		return key{name: def.Name, field: -1, def: def}, nil
	}
	if base, ok := strings.CutSuffix(name, FreeSuffix); ok {
		if def, ok := defs.Lookup(base); ok && def.Consumable {
			return key{name: name, field: -1, computed: true}, nil
		}
	}
	return key{}, unknownKey(defs, word, sample)
}

// FreeSuffix ends the names of columns that say how much is free.
const FreeSuffix = "_free"

// unknownKey says what the word may have meant, or how to declare it.
func unknownKey(defs *index.Defs, word, sample string) error {
	known := []string{"name", "devices"}
	for i := range fields {
		known = append(known, fields[i].name)
	}
	words := text.Quoted(word) + " is neither a field of nodes nor a declared resource" + index.DidYouMean(word,
		append(known, defs.Names()...))
	typ := guessType(sample)
	if _, err := index.NewDefs().Add(index.Def{Name: word, Type: typ}); err != nil {
		return errors.New(words) // it is no valid name of a resource
	}
	words += " (to declare it: placectl resource add " + word + "=" + typ.String()
	if typ.Numeric() {
		words += ", or " + typ.String() + ",consumable when jobs use it up"
	}
	return errors.New(words + ")")
}

// guessType returns the type of resource that fits a value.
func guessType(s string) index.Type {
	if _, err := strconv.ParseInt(s, 10, 64); err == nil {
		return index.Long
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return index.Float
	}
	if _, err := index.ParseSizeLoose(s); err == nil {
		return index.Size
	}
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off":
		return index.Boolean
	}
	return index.String
}

// unlisted undoes how our lists print a speed that is not set, so that they can be imported: as 0, which
// is no valid speed.
func (k key) unlisted(text string) string {
	if k.field == fieldSpeed || k.field == fieldProcSpeed {
		if v, err := strconv.ParseFloat(text, 64); err == nil && v == 0 {
			return ""
		}
	}
	return text
}

// takesList reports whether the value can be a list.
func (k key) takesList() bool {
	return k.field == fieldFeatures || k.def.Type == index.StringArray
}
