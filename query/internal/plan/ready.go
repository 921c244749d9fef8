package plan

import (
	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
)

// Ready is a SELECT made ready to run.
type Ready struct {
	Plan  *exec.Plan
	slots int // of its tables
	made  int // of results of grouping
}

// Prepare makes a SELECT ready to run on the tables of a catalog. text is all of what it was
// written in; an error in it is an *Error.
func Prepare(catalog tables.Catalog, text string, x *syntax.Select, opt Options) (r Ready, err error) {
	defer fault.Rescue(&err)
	c := &compiler{text: text, catalog: catalog, opt: opt}
	p := c.compileSelect(x, nil)
	return Ready{p, c.nslots, c.nmade}, nil
}

// Begin begins a run of it.
func (r Ready) Begin(opt *Options) *exec.Env {
	e := exec.NewEnv(opt.context(), opt.Limits, r.slots, r.made)
	e.Progress = opt.Progress
	return e
}
