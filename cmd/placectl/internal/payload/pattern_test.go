package payload

import (
	"errors"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/placectl/placectl/internal/engine"
)

// FuzzPattern: a pattern is refused, or gives one absolute path without any letter left. User-chosen names
// cannot lead elsewhere.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"placectl-%j.out", "%A_%a", "/tmp/%x/%u.%N-%t%%", "%", "%%%", "a%z", "../%x", "%5j",
		"%é", ""} {
		f.Add(s, "na/me", "../u")
	}
	f.Fuzz(func(t *testing.T, pattern, name, user string) {
		err := engine.CheckPattern(pattern)
		if err != nil {
			if !errors.Is(err, engine.ErrInvalid) {
				t.Fatalf("CheckPattern(%q) = %v, want ErrInvalid", pattern, err)
			}
			return
		}
		if pattern == "" || strings.ContainsRune(pattern+name+user, 0) {
			return
		}
		job := new(engine.Job)
		job.ID, job.Array, job.Index, job.Name, job.User = 12, 10, 2, name, user
		files := Files{Job: job, Of: &engine.Payload{Dir: "/home/ann", Out: pattern}, Attempt: 3,
			Node: func() string { return "n1" }}
		got := files.Out()
		if !filepath.IsAbs(got) {
			t.Fatalf("%q gives the relative path %q", pattern, got)
		}
		plainly := strings.NewReplacer("/", "_").Replace
		of := map[string]string{"%": "%", "j": "12", "A": "10", "a": "2", "x": plainly(name), "u": plainly(user),
			"N": "n1", "t": "3"}
		want := regexp.MustCompile("%([0-9]{0,2})([jAaxuNt%])").ReplaceAllStringFunc(pattern, func(p string) string {
			text := of[p[len(p)-1:]]
			width, _ := strconv.Atoi(p[1 : len(p)-1])
			return strings.Repeat("0", max(0, width-len(text))) + text
		})
		if !filepath.IsAbs(want) {
			want = filepath.Join("/home/ann", want)
		}
		if got != want {
			t.Fatalf("%q gives %q, want %q", pattern, got, want)
		}
	})
}
