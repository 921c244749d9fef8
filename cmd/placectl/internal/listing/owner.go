package listing

import (
	"strings"

	"github.com/placectl/placectl/store"
)

// Owner is the job or the reservation that has something, as JSON shows it.
type Owner struct {
	Job         uint64 `json:"job,omitempty"`
	Reservation string `json:"reservation,omitempty"`
}

// Owners are several of them; as text their names.
type Owners []Owner

// OwnersOf shows owners.
func OwnersOf(list []store.Owner) (out Owners) {
	for _, o := range list {
		out = append(out, Owner(o))
	}
	return out
}

func (list Owners) String() string { return strings.Join(list.Names(), ",") }

// Names are the owners in words: job 12.
func (list Owners) Names() []string {
	var words []string
	for _, o := range list {
		words = append(words, store.Owner(o).String())
	}
	return words
}
