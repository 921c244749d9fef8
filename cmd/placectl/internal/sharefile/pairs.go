package sharefile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer/fairshare"
)

// A Pair is an argument NAME=VALUE.
type Pair struct{ Class, Value string }

// Pairs splits words into pairs. what is the name of the value in errors.
func Pairs(words []string, what string) ([]Pair, error) {
	var pairs []Pair
	for _, arg := range words {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" || value == "" {
			return nil, fmt.Errorf("%s is not NAME=%s", text.Quoted(arg), what)
		}
		pairs = append(pairs, Pair{name, value})
	}
	return pairs, nil
}

// ParseLoad parses CLASS=LOAD.
func ParseLoad(p Pair) (fairshare.ClassLoad, error) {
	n, err := strconv.Atoi(p.Value)
	if err != nil || n < 0 || n > fairshare.MaxCount {
		return fairshare.ClassLoad{}, fmt.Errorf("load of %s: %s is not a whole number from 0 to %d", p.Class,
			text.Quoted(p.Value), int64(fairshare.MaxCount))
	}
	return fairshare.ClassLoad{Class: p.Class, Load: n}, nil
}
