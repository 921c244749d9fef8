package row

import (
	"fmt"
	"strconv"
)

// When is how far another job must have come before a job that depends on it may
// start. The numbers are on disk and must not change; the names are those of PBS.
type When uint8

// The kinds of dependency.
const (
	After      When = 1 // it has started
	AfterOK    When = 2 // it has succeeded, with status 0
	AfterNotOK When = 3 // it has failed, or was cancelled
	AfterAny   When = 4 // it has ended, however
)

var whenNames = [...]string{After: "after", AfterOK: "afterok", AfterNotOK: "afternotok", AfterAny: "afterany"}

func (w When) String() string {
	if int(w) < len(whenNames) && whenNames[w] != "" {
		return whenNames[w]
	}
	return fmt.Sprintf("when(%d)", w)
}

// Dependency names another job, and how far it must have come.
type Dependency struct {
	When When
	Job  uint64
}

func (d Dependency) String() string { return d.When.String() + ":" + strconv.FormatUint(d.Job, 10) }
