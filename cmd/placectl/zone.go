package main

import (
	"os"
	"strings"
	"time"
	_ "time/tzdata" // standing reservations name their zone; not every machine has zone files
)

// zone is the name of the user's time zone, for what has to be computed by its
// clocks later and elsewhere; "" for UTC, or when it has no name here.
func (r *runner) zone() string {
	if name := r.loc.String(); name != "Local" {
		return known(name)
	}
	if tz := r.getenv("TZ"); tz != "" {
		return known(strings.TrimPrefix(tz, ":"))
	}
	link, err := os.Readlink("/etc/localtime")
	if err != nil {
		return ""
	}
	_, name, _ := strings.Cut(link, "zoneinfo/")
	return known(name)
}

// known is a name that stands for a time zone, "" for any other.
func known(name string) string {
	if _, err := time.LoadLocation(name); err != nil || name == "UTC" {
		return ""
	}
	return name
}
