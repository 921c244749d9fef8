package listing

import (
	"strings"

	"github.com/placectl/placectl/store"
)

// Owner is the job or reservation that owns something, as JSON shows it.
type Owner struct {
	Job         uint64 `json:"job,omitempty"`
	Reservation string `json:"reservation,omitempty"`
}

// Owners are several owners. As text they are their names.
type Owners []Owner

// OwnersOf converts owners for answers.
func OwnersOf(list []store.Owner) (out Owners) {
	for _, o := range list {
		out = append(out, Owner(o))
	}
	return out
}

func (list Owners) String() string { return strings.Join(list.Names(), ",") }

// Names returns the owners in words: job 12.
func (list Owners) Names() []string {
	var words []string
	for _, o := range list {
		words = append(words, store.Owner(o).String())
	}
	return words
}
