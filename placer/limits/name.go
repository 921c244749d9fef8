package limits

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Each is the name that stands for each by itself.
const Each = "*"

// ValidName fails for what can be no name of a user, group or account in a rule.
func ValidName(name string) error {
	bad := func(c rune) bool {
		return strings.ContainsRune(`,"'\`, c) || unicode.IsSpace(c) || !unicode.IsPrint(c)
	}
	if name == "" || len(name) > 255 || !utf8.ValidString(name) || strings.ContainsFunc(name, bad) {
		return fmt.Errorf("%q is no name: it has letters, digits and signs, at most 255, and no blanks, commas or quotes", name)
	}
	return nil
}
