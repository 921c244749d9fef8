package query

// Ready is a SELECT made ready to run.
type Ready struct {
	plan  *selectPlan
	slots int // of its tables
	made  int // of results of grouping
}

// prepareSelect makes a SELECT ready to run on the tables of a catalog. text is all of what it was
// written in; an error in it is an *Error.
func prepareSelect(catalog Catalog, text string, x *Select, opt Options) (r Ready, err error) {
	defer rescue(&err)
	c := &compiler{text: text, catalog: catalog, opt: opt}
	p := c.compileSelect(x, nil)
	return Ready{p, c.nslots, c.nmade}, nil
}

// Begin begins a run of it.
func (r Ready) Begin(opt *Options) *env {
	e := newEnv(opt.context(), opt.Limits, r.slots, r.made)
	e.progress = opt.Progress
	return e
}
