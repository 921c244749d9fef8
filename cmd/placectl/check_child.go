package main

import (
	"bytes"
	"encoding/json"
	"strings"
)

// readFindings reads what a checking child printed.
func readFindings(out []byte) []string {
	var list []string
	for line := range bytes.Lines(out) {
		var row struct{ Finding string }
		if json.Unmarshal(line, &row) == nil && row.Finding != "" {
			list = append(list, row.Finding)
		}
	}
	return list
}

// errorMessage reads the error that a child reported as JSON.
func errorMessage(b []byte) string {
	var e struct{ Error struct{ Message string } }
	if json.Unmarshal(bytes.TrimSpace(b), &e) == nil && e.Error.Message != "" {
		return e.Error.Message
	}
	return firstLine(b)
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return line
}
