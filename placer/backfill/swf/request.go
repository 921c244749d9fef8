package swf

import (
	"slices"
	"strconv"
	"strings"
)

// Select turns the text that a user wrote after -l nodes= in PBS into a select. The logs of
// MetaCentrum have it in a field: cores for each node, and properties. So nothing must be
// guessed from the number of processors. The log has the memory of the whole job in bytes, -1
// if unknown, and a mem= beside nodes= means the same.
//
// A host may have its domain, and may be among the properties. The select names it as the
// nodes are named. A select cannot name nodes and properties to avoid (^word): Select leaves
// them out, and avoids is true.
func Select(asked string, memory int64, isHost func(name string) bool) (sel string, avoids bool) {
	parts := strings.Split(asked, "+")
	for p, part := range parts {
		words := strings.Split(part, ":")
		for i := range words {
			host, _, _ := strings.Cut(strings.TrimPrefix(words[i], "host="), ".")
			switch {
			case !isHost(host):
			case i == 0:
				words[i] = host
			default:
				words[i] = "host=" + host
			}
		}
		kept := slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "^") })
		avoids = avoids || len(kept) < len(words)
		parts[p] = strings.Join(kept, ":")
	}
	sel = "nodes=" + strings.Join(parts, "+")
	if memory > 0 && !strings.Contains(sel, "mem=") {
		sel += ",mem=" + memoryText(memory)
	}
	return sel, avoids
}

// memoryText writes bytes in the largest unit that gives a whole number.
func memoryText(bytes int64) string {
	n, unit := (bytes+1023)/1024, 0
	for ; n%1024 == 0 && unit < 2; unit++ {
		n /= 1024
	}
	return strconv.FormatInt(n, 10) + [...]string{"kb", "mb", "gb"}[unit]
}
