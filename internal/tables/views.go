package tables

import (
	"fmt"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
)

// View finds a view stored in the database, or nil if there is none with the name.
func (c *Catalog) View(name string) (*syntax.View, error) {
	if v, ok := c.views[name]; ok {
		return v, nil
	}
	payload, err := c.src.Rows.Get(row.Views, []byte(name))
	if err != nil || payload == nil {
		return nil, err
	}
	kept, err := row.ViewRow.Decode([]byte(name), payload)
	if err != nil {
		return nil, err
	}
	v, err := ParseView(name, kept.Select)
	if err != nil {
		return nil, fmt.Errorf("view %s: %w", name, err)
	}
	if c.views == nil {
		c.views = make(map[string]*syntax.View)
	}
	c.views[name] = v
	return v, nil
}

// ParseView reads the SELECT of a view.
func ParseView(name, text string) (*syntax.View, error) {
	list, err := query.Parse(text)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 || list[0].Select == nil || list[0].Explain {
		return nil, fmt.Errorf("%w: one SELECT is expected", row.ErrInvalid)
	}
	return &syntax.View{Name: name, Select: list[0].Select}, nil
}

// eachView calls fn for the views by their names.
func (c *Catalog) eachView(fn func(*row.View) error) error {
	return c.src.Rows.Each(row.Views, nil, func(key, payload []byte) (bool, error) {
		v, err := row.ViewRow.Decode(key, payload)
		if err == nil {
			err = fn(v)
		}
		return true, err
	})
}

func sysViews(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[row.View]{[]getter[row.View]{
		textColumn("name", "name of the view", func(v *row.View) string { return v.Name }),
		textColumn("sql", "its SELECT statement", func(v *row.View) string { return v.Select }),
	}, func(add func(row.View)) error {
		return c.eachView(func(v *row.View) error { add(*v); return nil })
	}}, nil
}
