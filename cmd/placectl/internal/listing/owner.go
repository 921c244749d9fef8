package listing

import (
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/engine"
)

// Owners are the jobs and reservations that own something. As text they are their names.
type Owners []engine.Owner

// Objects returns the owners for programs.
func (list Owners) Objects() output.Objects {
	return output.ObjectsOf(output.Fields[int]{
		{Name: "job", Kind: output.Integer, Value: func(i int) any { return output.OrNil(list[i].Job) }},
		{Name: "reservation", Value: func(i int) any { return output.OrNil(list[i].Reservation) }},
	}, len(list))
}

func (list Owners) String() string { return strings.Join(list.Names(), ",") }

// Names returns the owners in words: job 12.
func (list Owners) Names() []string {
	var words []string
	for _, o := range list {
		words = append(words, o.String())
	}
	return words
}
