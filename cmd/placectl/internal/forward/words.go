package forward

import (
	"encoding/hex"
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
)

// Begins is what a verb that changes something writes to standard error when it begins, followed by the
// word that it was given.
const Begins = "placectl-begun "

// Words returns the command line for the other host, with the global flags from the command line and the
// environment. path is the database's path there. With a nonce the verb says when it begins.
func Words[R any](path string, inv verbs.Invocation[R], e verbs.Surroundings, nonce *engine.Nonce) []string {
	words := append([]string{"placectl", "--db", path}, globalWords(inv.Globals, e)...)
	if nonce != nil {
		words = append(words, "--begun="+hex.EncodeToString(nonce[:]))
	}
	return append(append(words, inv.Path[0].Name), verbWords(inv)...)
}

// globalWords returns the global flags from all sources, without the database.
func globalWords(given []verbs.Setting, e verbs.Surroundings) (words []string) {
	for i := range verbs.GlobalFlags {
		f := &verbs.GlobalFlags[i]
		value, source := f.LookUp(given, e)
		if f.Name != "db" && source != "" {
			words = append(words, f.Shown()+"="+value)
		}
	}
	return words
}

// verbWords returns the words of a command line behind its first verb.
func verbWords[R any](inv verbs.Invocation[R]) (words []string) {
	for _, v := range inv.Path[1:] {
		words = append(words, v.Name)
	}
	for _, g := range inv.Flags {
		words = append(words, g.Word())
	}
	if inv.Dash < 0 {
		return append(words, inv.Args...)
	}
	return slices.Concat(words, inv.Args[:inv.Dash], []string{"--"}, inv.Args[inv.Dash:])
}
