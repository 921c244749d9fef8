package slurm

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// without are options that are accepted and change nothing, because there is nothing here to change.
var without = map[string][]string{
	// a database is one cluster, and hides no partition; a job is in one of them
	"squeue": {"all", "hide", "local", "federation", "sibling", "noconvert", "priority", "verbose"},
	"sacct": {"cluster", "local", "federation", "allclusters", "duplicates", "noconvert", "timezone", "use-local-uid",
		"verbose"},
	"sinfo":   {"bg", "cluster", "exact", "federation", "future", "hide", "local", "noconvert", "verbose"},
	"scancel": {"batch", "full", "hurry", "ctld", "quiet", "verbose", "cron"}, // a signal always reaches the whole job
}

// common are options that all commands read in the same way.
var common = []string{"help", "usage", "version", ""}

// TestOptionsAreRead: each option that a command accepts is read by it, or listed above. Many used to be
// accepted without selecting any jobs.
func TestOptionsAreRead(t *testing.T) {
	for command, tt := range map[string]struct {
		options string
		files   []string
	}{
		"squeue":  {squeueOptions, []string{"squeue*.go"}},
		"sacct":   {sacctOptions, []string{"sacct*.go"}},
		"sinfo":   {sinfoOptions, []string{"sinfo*.go"}},
		"scancel": {scancelOptions, []string{"scancel.go", "squeue.go"}},
	} {
		words := make(map[string]bool)
		for _, pattern := range tt.files {
			names, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				for _, quoted := range regexp.MustCompile(`"[a-zA-Z0-9-]+"`).FindAllString(string(text), -1) {
					word, _ := strconv.Unquote(quoted)
					words[word] = true
				}
			}
		}
		for _, o := range fronts.Declare(tt.options) {
			if slices.Contains(common, o.Long) {
				continue
			}
			read, listed := words[o.Long], slices.Contains(without[command], o.Long)
			if read == listed {
				t.Errorf("%s --%s: read: %v, listed as without effect: %v, want one of them", command, o.Long, read,
					listed)
			}
		}
	}
}
