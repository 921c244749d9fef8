package swf

import (
	"slices"
	"strconv"
	"strings"
)

// Select makes a select of what a job's user wrote behind -l nodes= of PBS, which the
// logs of MetaCentrum have in a field of their own: cores a node and properties, so
// that nothing has to be guessed from the number of processors. Memory that is not
// written there such a log has in bytes for the whole job, -1 for unknown, which is
// what a mem= beside nodes= means, too.
//
// A host may stand there with its domain, and among the properties: it is named as the
// nodes are. Nodes and properties that a job is to be kept off (^word) a select cannot
// name; they are left out, and avoids says so.
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

// memoryText writes an amount of bytes in the largest unit that has it whole.
func memoryText(bytes int64) string {
	n, unit := (bytes+1023)/1024, 0
	for ; n%1024 == 0 && unit < 2; unit++ {
		n /= 1024
	}
	return strconv.FormatInt(n, 10) + [...]string{"kb", "mb", "gb"}[unit]
}
