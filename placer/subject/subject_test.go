package subject_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/placer/subject"
	"github.com/placectl/placectl/placer/syntax"
	"github.com/placectl/placectl/placer/syntax/syntaxtest"
	"pgregory.net/rapid"
)

// TestKinds: the numbers and the names of kinds are on disk.
func TestKinds(t *testing.T) {
	numbers := map[subject.Kind]string{1: "user", 2: "group", 3: "account", 4: "class", 5: "queue", 6: "job"}
	for k := range subject.Kind(10) {
		name, valid := numbers[k]
		if k.Valid() != valid || valid && (k.String() != name || subject.All.Named(name) != k) {
			t.Errorf("%d is %s, valid %v", k, k, k.Valid())
		}
	}
	for _, c := range []struct {
		kinds subject.Kinds
		text  string
	}{
		{subject.All, "user, group, account, class, queue, job"},
		{subject.Shared, "user, group, account, class, queue"},
		{subject.People, "user, group"},
	} {
		if got := c.kinds.String(); got != c.text {
			t.Errorf("the kinds are %q, want %q", got, c.text)
		}
	}
}

// TestParse: either writing of a subject is read, and one is written.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		in   string
		want subject.Subject
		text string
	}{
		{"user=ann", subject.User.Of("ann"), "user=ann"},
		{"user:ann", subject.User.Of("ann"), "user=ann"},
		{"group:lab", subject.Group.Of("lab"), "group=lab"},
		{"account=chem", subject.Account.Of("chem"), "account=chem"},
		{"class=long", subject.Class.Of("long"), "class=long"},
		{"queue:gpu", subject.Queue.Of("gpu"), "queue=gpu"},
		{"job=12[0-4]", subject.Job.Of("12[0-4]"), "job=12[0-4]"},
		{" User=ann ", subject.User.Of("ann"), "user=ann"},
		{"user:uid:4242", subject.User.Of("uid:4242"), "user=uid:4242"}, // only the first sign ends the kind
		{"user:a=b", subject.User.Of("a=b"), "user=a=b"},
		{"user==a", subject.User.Of("=a"), "user==a"},
		{"user=ann-", subject.User.Of("ann-"), `user="ann-"`}, // an access list would read an affinity
		{`user="c++"`, subject.User.Of("c++"), `user="c++"`},
		{`user='ann'`, subject.User.Of("ann"), "user=ann"},
		{"user=née", subject.User.Of("née"), "user=née"},
	} {
		got, err := subject.All.Parse(c.in)
		if err != nil || got != c.want || got.String() != c.text {
			t.Errorf("%q is %v, %v; want %s", c.in, got, err, c.text)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		kinds       subject.Kinds
		in          string
		caret, want string
	}{
		{subject.All, "", "^", "expected KIND=NAME, such as user=ann, of one of the kinds user, group, account"},
		{subject.All, "ann", "^", "expected KIND=NAME"},
		{subject.All, "usr=ann", "^", "; did you mean user?"},
		{subject.People, "queue=gpu", "^", "of one of the kinds user, group"},
		{subject.Shared, "job=12", "^", "of one of the kinds user, group, account, class, queue"},
		{subject.All, "user", "    ^", "expected = and a name after user"},
		{subject.All, "user ann", "    ^", "expected = and a name after user"},
		{subject.All, "user=", "^", "is not a name"},
		{subject.All, "user=*", "^", "is not a name"}, // no one in particular
		{subject.All, `user="a b"`, "^", "without blanks, commas or quotes"},
		{subject.All, `user="a,b"`, "^", "without blanks, commas or quotes"},
		{subject.All, `user="a'b"`, "^", "without blanks, commas or quotes"},
		{subject.All, `user=a\b`, "^", "is not a name"},
		{subject.All, "user=" + strings.Repeat("a", 256), "^", "at most 255"},
		{subject.All, "user=a b", "      ^", "a name that holds a blank needs quotes"},
		{subject.All, `user="a`, "     ^", "the quote is not closed"},
		{subject.All, "user=a\x1b", "      ^", "cannot be printed"},
		{subject.All, "user=ann,group=lab", "        ^", "expected one subject, not several"},
	} {
		_, err := c.kinds.Parse(c.in)
		var e *syntax.Error
		if !errors.As(err, &e) {
			t.Errorf("%.40q: %v", c.in, err)
			continue
		}
		if _, caret, _ := strings.Cut(e.Caret(), "\n"); caret != c.caret || !strings.Contains(e.Msg, c.want) {
			t.Errorf("%.40q: %s\n%s", c.in, e.Msg, e.Caret())
		}
	}
}

// TestParseKey: a key is the subjects that a job must have all, in the order of kinds.
func TestParseKey(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"all", "all"},
		{"user:*", "user=*"}, // each by itself
		{"account:", "account="},
		{"queue:gpu,user:*", "user=*,queue=gpu"},
		{"class=a, group:lab ,account=chem", "group=lab,account=chem,class=a"},
		{"user=ann,user=bob", "two of the kind user"},
		{"user=ann,", "expected KIND=NAME"},
		{"*", "expected KIND=NAME"},
		{"ALL", "expected KIND=NAME"},
		{"job=12", "of one of the kinds user, group, account, class, queue"},
		{`user="a b"`, "is not a name"},
	} {
		key, err := subject.Shared.ParseKey(c.in)
		if err == nil && key.String() != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, %v; want %s", c.in, key, err, c.want)
		}
	}
}

// TestRoundTrip: what is written reads back, whatever printable text the names are.
func TestRoundTrip(t *testing.T) {
	name := rapid.StringOfN(rapid.OneOf(rapid.RuneFrom([]rune(`ab-+=,"' :()#*`)), rapid.RuneFrom([]rune("zé0"))), 0, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(subject.All).Draw(t, "kind").Of(name.Draw(t, "name"))
		p := syntax.New(nil, "subject", s.String())
		if got, _, err := subject.All.Read(&p); err != nil || got != s || p.At != p.End {
			t.Fatalf("%q (%s) is read as %q: %v", s.Name, s, got.Name, err)
		}
		if subject.ValidName(s.Name) == nil {
			if got, err := subject.All.Parse(strings.Replace(s.String(), "=", ":", 1)); err != nil || got != s {
				t.Fatalf("%s is parsed as %s: %v", s, got, err)
			}
		}
		var key subject.Key
		kinds := rapid.SliceOfNDistinct(rapid.SampledFrom(subject.Shared), 0, 5, rapid.ID)
		for _, kind := range kinds.Draw(t, "kinds") {
			key = append(key, kind.Of(rapid.SampledFrom([]string{"", "*", "ann", "x-", "a=b"}).Draw(t, "name")))
		}
		slices.SortFunc(key, func(a, b subject.Subject) int { return int(a.Kind) - int(b.Kind) })
		got, err := subject.Shared.ParseKey(key.String())
		if diff := cmp.Diff(key, got); err != nil || diff != "" {
			t.Fatalf("%s: %v\n%s", key, err, diff)
		}
	})
}

func FuzzParseKey(f *testing.F) {
	for _, s := range []string{"all", "user:ann,queue=gpu", `user="x-"`, "usr=a", "account=,user=*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		key, err := subject.Shared.ParseKey(s)
		if err != nil {
			syntaxtest.Printable(t, err)
			return
		}
		again, err := subject.Shared.ParseKey(key.String())
		if diff := cmp.Diff(key, again); err != nil || diff != "" {
			t.Fatalf("%q is written %q: %v\n%s", s, key, err, diff)
		}
	})
}
