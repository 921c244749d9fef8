package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
	"github.com/urfave/cli/v2"
)

// nodeKey is what a column of a node file, or a key of key=value, is about.
type nodeKey struct {
	name     string
	field    int       // position in nodeFields, -1 for a resource
	def      index.Def // the resource
	isName   bool
	computed bool // a column of `node list` that is worked out, not given
}

// findNodeKey finds what a column or key is about, in any case. sample is a
// value of it, from which a type is guessed where it is not declared.
func findNodeKey(defs *index.Defs, word, sample string) (nodeKey, error) {
	name := strings.ToLower(word)
	switch name {
	case "name":
		return nodeKey{name: name, field: -1, isName: true}, nil
	case "number", "bucket", "jobs", "free_until":
		return nodeKey{name: name, field: -1, computed: true}, nil
	case "feature":
		return nodeKey{}, fmt.Errorf("%s is not a field of nodes; did you mean features?", word)
	}
	for i := range nodeFields {
		if nodeFields[i].name == name {
			return nodeKey{name: name, field: i}, nil
		}
	}
	if def, ok := defs.Lookup(word); ok {
		return nodeKey{name: def.Name, field: -1, def: def}, nil
	}
	if base, ok := strings.CutSuffix(name, freeSuffix); ok {
		if def, ok := defs.Lookup(base); ok && def.Consumable {
			return nodeKey{name: name, field: -1, computed: true}, nil
		}
	}
	return nodeKey{}, unknownNodeKey(defs, word, sample)
}

// freeSuffix makes the name of the column that says how much is free.
const freeSuffix = "_free"

// unknownNodeKey says what the word may have meant, and how to declare it.
func unknownNodeKey(defs *index.Defs, word, sample string) error {
	known := []string{"name"}
	for i := range nodeFields {
		known = append(known, nodeFields[i].name)
	}
	text := spell.Quoted(word) + " is neither a field of nodes nor a declared resource" + index.DidYouMean(word, append(known, defs.Names()...))
	typ := guessType(sample)
	if _, err := index.NewDefs().Add(index.Def{Name: word, Type: typ}); err != nil {
		return errors.New(text) // no resource could be called so
	}
	text += " (to declare it: placectl resource add " + word + "=" + typ.String()
	if typ.Numeric() {
		text += ", or " + typ.String() + ",consumable when jobs use it up"
	}
	return errors.New(text + ")")
}

// guessType is the type of resource that a value looks like.
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

// patchFromArgs reads key=value words.
func patchFromArgs(c *cli.Context, defs *index.Defs, words []string) (*nodePatch, error) {
	p := &nodePatch{}
	units, err := readUnits(c, defs)
	if err != nil {
		return nil, err
	}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		if !ok || key == "" {
			return nil, usagef(verbName(c), "%s is not key=value, such as ncpus=8", spell.Quoted(w))
		}
		k, err := findNodeKey(defs, key, value)
		switch {
		case err != nil:
			return nil, usagef(verbName(c), "%w", err)
		case k.isName:
			return nil, usagef(verbName(c), "a node's name is given first, as NAMES, and cannot be changed")
		case k.computed:
			return nil, usagef(verbName(c), "%s is worked out, and cannot be set", k.name)
		case p.has(k):
			return nil, usagef(verbName(c), "%s is given twice", k.name)
		}
		if value, err = units.complete(k, value); err == nil {
			err = p.set(k, value)
		}
		if err != nil {
			return nil, usagef(verbName(c), "%s: %w", k.name, err)
		}
	}
	return p, nil
}

// unlisted undoes what lists of nodes print of a speed that is not set, so that
// they can be imported: 0, which no node that has a speed has.
func (k nodeKey) unlisted(text string) string {
	if k.field == fieldSpeed || k.field == fieldProcSpeed {
		if v, err := strconv.ParseFloat(text, 64); err == nil && v == 0 {
			return ""
		}
	}
	return text
}

// takesList reports whether the value may be a list.
func (k nodeKey) takesList() bool {
	return k.field == fieldFeatures || k.def.Type == index.StringArray
}
