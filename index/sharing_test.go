package index

import (
	"strings"
	"testing"
)

func TestParseSharing(t *testing.T) {
	for s := range Sharing(len(sharingNames)) {
		for _, word := range []string{s.String(), strings.ToUpper(s.String())} {
			if got, err := ParseSharing(word); err != nil || got != s {
				t.Errorf("%s is read as %s, %v", word, got, err)
			}
		}
	}
	if got, err := ParseSharing(""); err != nil || got != DefaultShared {
		t.Errorf("nothing is read as %s, %v", got, err)
	}
	_, err := ParseSharing("force-exclhosts")
	want :=
		`no sharing "force-exclhosts": use one of default_shared, default_excl, default_exclhost, ignore_excl, force_excl, force_exclhost; did you mean force_exclhost?`
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	if s := Sharing(6); s.Valid() || s.String() != "sharing(6)" {
		t.Errorf("6 is %s", s)
	}
}

func TestParseAccess(t *testing.T) {
	for a := range Access(len(accessNames)) {
		for _, word := range []string{a.String(), strings.ToUpper(a.String())} {
			if got, err := ParseAccess(word); err != nil || got != a {
				t.Errorf("%s is read as %s, %v", word, got, err)
			}
		}
	}
	if got, err := ParseAccess(""); err != nil || got != AccessShared {
		t.Errorf("nothing is read as %s, %v", got, err)
	}
	_, err := ParseAccess("single_jobs")
	want :=
		`no access policy "single_jobs": use one of shared, singleuser, singlejob, singletask; did you mean singlejob?`
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	if a := Access(4); a.Valid() || a.String() != "access(4)" {
		t.Errorf("4 is %s", a)
	}
}

// The numbers are on disk.
func TestSharingNumbers(t *testing.T) {
	for want, s := range []Sharing{DefaultShared, DefaultExcl, DefaultExclHost, IgnoreExcl, ForceExcl, ForceExclHost} {
		if int(s) != want {
			t.Errorf("%s is %d, and was %d", s, s, want)
		}
	}
	for want, a := range []Access{AccessShared, AccessSingleUser, AccessSingleJob, AccessSingleTask} {
		if int(a) != want {
			t.Errorf("%s is %d, and was %d", a, a, want)
		}
	}
}

func TestStricter(t *testing.T) {
	order := []string{"shared", "singleuser", "singlejob", "singletask"}
	for i, x := range order {
		for k, y := range order {
			a, _ := ParseAccess(x)
			b, _ := ParseAccess(y)
			if got := a.Stricter(b).String(); got != order[max(i, k)] {
				t.Errorf("of %s and %s %s is the stricter", x, y, got)
			}
		}
	}
}
