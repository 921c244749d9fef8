package plan

import (
	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
)

// Ready is a SELECT that is ready to run.
type Ready struct {
	Plan  *exec.Plan
	slots int // number of tables
	made  int // number of grouping results
}

// Prepare compiles a SELECT for the tables of a catalog. text is the whole text that contains it. An
// error in it is an *Error.
func Prepare(catalog tables.Catalog, text string, x *syntax.Select, opt Options) (r Ready, err error) {
	defer fault.Rescue(&err)
	c := &compiler{text: text, catalog: catalog, opt: opt}
	p := c.compileSelect(x, nil)
	return Ready{p, c.nslots, c.nmade}, nil
}

// Begin begins a run.
func (r Ready) Begin(opt *Options) *exec.Env {
	e := exec.NewEnv(opt.context(), opt.Limits, r.slots, r.made)
	e.Progress = opt.Progress
	return e
}
