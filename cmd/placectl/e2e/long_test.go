package e2e

import (
	"flag"
	"os"
	"strings"
)

// Random tests have a short form, of seconds, and a long one, of hours. Each size can also be set by
// itself.
var long = flag.Bool("long", false, "the long form of tests that have one")

// longForms are the sizes that -long sets, unless they are given.
var longForms = map[string]string{
	"rapid.checks": "5000", // of lives: a million verbs
	"kills":        "4000",
	"keyed":        "100000",
	"soak":         "100000",

	"selfrun-storm": "60s",
}

// lengthen reads the flags of the tests. If the process is one of the programs that tests start, there are
// none.
func lengthen() {
	if !strings.HasSuffix(os.Args[0], ".test") {
		return
	}
	flag.Parse()
	if !*long {
		return
	}
	given := make(map[string]bool)
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for name, value := range longForms {
		if !given[name] {
			if err := flag.Set(name, value); err != nil {
				panic(err)
			}
		}
	}
}
