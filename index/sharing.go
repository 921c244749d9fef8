package index

import (
	"fmt"
	"strings"
)

// Two things decide which jobs may share a node: the node's sharing, which says whether a job
// gets the node exclusively, and the access policies of the node and the jobs on it.

// Sharing says how a node treats a request's excl, exclhost and shared, like the attribute
// sharing of a PBS vnode. The numbers are on disk and must not change.
type Sharing uint8

// The sharings. A default counts if the request says nothing; ignore_excl and the forced ones
// always count. Those that end in exclhost take the whole host, with all its nodes.
const (
	DefaultShared   Sharing = 0
	DefaultExcl     Sharing = 1
	DefaultExclHost Sharing = 2
	IgnoreExcl      Sharing = 3 // always shared
	ForceExcl       Sharing = 4
	ForceExclHost   Sharing = 5
)

var sharingNames = []string{"default_shared", "default_excl", "default_exclhost", "ignore_excl", "force_excl",
	"force_exclhost"}

func (s Sharing) String() string {
	if s.Valid() {
		return sharingNames[s]
	}
	return fmt.Sprintf("sharing(%d)", s)
}

// Valid reports whether the sharing exists.
func (s Sharing) Valid() bool { return int(s) < len(sharingNames) }

// ParseSharing reads a sharing in any case; an empty word is default_shared.
func ParseSharing(s string) (Sharing, error) {
	i, err := parseName("sharing", s, sharingNames)
	return Sharing(i), err
}

// Access says whose jobs may be on a node at the same time. Stricter values are greater. The
// numbers are on disk and must not change; neither must the words, which the rows of nodes hold.
type Access uint8

// The access policies.
const (
	AccessShared     Access = 0 // anybody's
	AccessSingleUser Access = 1 // jobs of one user
	AccessSingleJob  Access = 2 // the tasks of one job
	AccessSingleTask Access = 3 // one task of one job
)

var accessNames = []string{"shared", "singleuser", "singlejob", "singletask"}

func (a Access) String() string {
	if a.Valid() {
		return accessNames[a]
	}
	return fmt.Sprintf("access(%d)", a)
}

// Valid reports whether the policy exists.
func (a Access) Valid() bool { return int(a) < len(accessNames) }

// Stricter returns the stricter of two policies, which is the one that applies if both meet on
// a node.
func (a Access) Stricter(b Access) Access { return max(a, b) }

// ParseAccess reads an access policy in any case; an empty word is shared.
func ParseAccess(s string) (Access, error) {
	i, err := parseName("access policy", s, accessNames)
	return Access(i), err
}

// parseName returns the position of a word among names, and 0 for the empty word.
func parseName(kind, s string, names []string) (int, error) {
	if s == "" {
		return 0, nil
	}
	for i, name := range names {
		if strings.EqualFold(s, name) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("no %s %q: use one of %s%s", kind, s, strings.Join(names, ", "), DidYouMean(s, names))
}
