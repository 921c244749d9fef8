package query

// viewed makes a view a source.
func (s *scope) viewed(f *FromItem, src *source, view *View) {
	src.sub = s.c.view(f, view)
	if view.Columns == nil && s.flatten(src) {
		return
	}
	src.columns = s.c.renamed(f, src.sub, f.Table, view.Columns)
}

// keptView finds a view of the catalog, nil where that has none of the name.
func (c *compiler) keptView(f *FromItem) *View {
	kept, ok := c.catalog.(Viewer)
	if !ok || f.At != nil {
		return nil
	}
	view, err := kept.View(lowerASCII(f.Table))
	c.found(f, err)
	return view
}

// view compiles a view. A fault in it is told where it is used.
func (c *compiler) view(f *FromItem, view *View) producer {
	if c.views[view] {
		c.fail(f, "the view %s is explained by itself", view.Name)
	}
	if c.views == nil {
		c.views = make(map[*View]bool)
	}
	c.views[view] = true
	defer delete(c.views, view)
	p, err := c.compileView(view)
	if fault, ok := err.(*Error); ok {
		c.fail(f, "view %s: %s", view.Name, fault.Msg)
	}
	if err != nil {
		panic(abort{err})
	}
	return p
}

func (c *compiler) compileView(view *View) (p producer, err error) {
	defer rescue(&err)
	return c.compileSelect(view.Select, nil), nil
}
