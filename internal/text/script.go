package text

import (
	"errors"
	"fmt"
	"strings"
)

// CheckScript fails if no shell could execute a text as it was meant. Its error goes on from the name of the script.
func CheckScript(script string) error {
	if at := strings.IndexByte(script, 0); at >= 0 {
		return fmt.Errorf("has a NUL byte at offset %d: it is not a script", at)
	}
	if strings.Contains(script, "\r\n") {
		return errors.New(
			`has line breaks of DOS (\r\n), which a shell takes for parts of words: convert it with dos2unix`)
	}
	return nil
}
