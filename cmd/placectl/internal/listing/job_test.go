package listing

import (
	"slices"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/attribute"
)

// TestAttributesAreRead: each attribute of a job has a reader, or is a field of a job.
func TestAttributesAreRead(t *testing.T) {
	fields := attribute.Fields(attribute.Job, jobType)
	for _, a := range attribute.Job {
		read := slices.ContainsFunc(jobReaders, func(f output.Field[*jobView]) bool { return f.Name == a.Name })
		if !read && fields[a.Name] == nil {
			t.Errorf("%s has no reader, and a job has no field %s for it", a.Name, attribute.FieldName(a.Name))
		}
	}
}
