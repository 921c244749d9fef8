package plan

import (
	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// viewed makes a view a source.
func (s *scope) viewed(f *syntax.FromItem, src *source, view *syntax.View) {
	src.Sub = s.c.view(f, view)
	if view.Columns == nil && s.flatten(src) {
		return
	}
	src.Columns = s.c.renamed(f, src.Sub, f.Table, view.Columns)
}

// keptView finds a view of the catalog; nil if there is none of the name.
func (c *compiler) keptView(f *syntax.FromItem) *syntax.View {
	kept, ok := c.catalog.(tables.Viewer)
	if !ok || f.At != nil {
		return nil
	}
	view, err := kept.View(values.Lower(f.Table))
	c.found(f, err)
	return view
}

// view compiles a view. An error in it is reported where it is used.
func (c *compiler) view(f *syntax.FromItem, view *syntax.View) exec.Producer {
	if c.views[view] {
		c.fail(f, "the view %s is explained by itself", view.Name)
	}
	if c.views == nil {
		c.views = make(map[*syntax.View]bool)
	}
	c.views[view] = true
	defer delete(c.views, view)
	p, err := c.compileView(view)
	if fault, ok := err.(*fault.Error); ok {
		c.fail(f, "view %s: %s", view.Name, fault.Msg)
	}
	if err != nil {
		panic(fault.Abort{Err: err})
	}
	return p
}

func (c *compiler) compileView(view *syntax.View) (p exec.Producer, err error) {
	defer fault.Rescue(&err)
	p = c.compileSelect(view.Select, nil)
	return p, nil
}
