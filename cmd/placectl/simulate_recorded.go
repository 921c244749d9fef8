package main

import (
	"strconv"
	"strings"
)

// Traces of MetaCentrum, as the simulator Alea reads them, come with a file of
// machines and have two fields more than the standard: a queue, and what the job's
// user wrote behind -l nodes=.

// hostDomain is behind the names of hosts in requests; our nodes do without.
const hostDomain = ".cerit-sc.cz"

// recordedSelect is a request as it was recorded, cores a node and properties, so
// that nothing has to be guessed from the number of processors. Memory that is not
// written there the record has in bytes for the whole job, -1 for unknown, which is
// what a mem= beside nodes= means, too.
func recordedSelect(asked string, memory int64) string {
	if memory > 0 && !strings.Contains(asked, "mem=") {
		asked += ",mem=" + memoryText(memory)
	}
	return "nodes=" + asked
}

// memoryText writes an amount of bytes in the largest unit that has it whole.
func memoryText(bytes int64) string {
	n, unit := (bytes+1023)/1024, 0
	for ; n%1024 == 0 && unit < 2; unit++ {
		n /= 1024
	}
	return strconv.FormatInt(n, 10) + [...]string{"kb", "mb", "gb"}[unit]
}
