package engine

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/tables"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/query/syntax"
)

// SQLView is a named query, stored in the file, to use as a table.
type SQLView struct {
	Name   string // letters, digits and _, in lower case
	Select string
}

// Views gives access to the views of a database.
type Views struct{ tx *Tx }

// Views returns the named queries that the file stores.
func (tx *Tx) Views() Views { return Views{tx} }

// Each calls fn for the views by name, until fn fails.
func (vs Views) Each(fn func(SQLView) error) error {
	return vs.tx.k.File.Each(row.Views, nil, func(key, payload []byte) (bool, error) {
		v, err := row.ViewRow.Decode(key, payload)
		if err == nil {
			err = fn(SQLView(*v))
		}
		return true, err
	})
}

// Get returns a view, or ErrNotFound if there is none.
func (vs Views) Get(name string) (SQLView, error) {
	name = strings.ToLower(name)
	payload, err := vs.tx.k.File.Get(row.Views, []byte(name))
	if err != nil {
		return SQLView{}, err
	}
	if payload == nil {
		var names []string
		err := vs.Each(func(v SQLView) error { names = append(names, v.Name); return nil })
		if err == nil {
			err = fmt.Errorf("no view %q%s: %w", name, index.DidYouMean(name, names), ErrNotFound)
		}
		return SQLView{}, err
	}
	v, err := row.ViewRow.Decode([]byte(name), payload)
	if err != nil {
		return SQLView{}, err
	}
	return SQLView(*v), nil
}

// viewName matches the names that a view may have.
var viewName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`) })

// Set stores a view and replaces one of the same name. The view must be one SELECT without
// parameters that can be answered now, and its name must not be that of a table. If not, Set
// fails with ErrInvalid or an error of the query.
func (vs Views) Set(v SQLView) error {
	if err := users.Operates(vs.tx.k, "views"); err != nil {
		return err
	}
	v.Name = strings.ToLower(v.Name)
	if !viewName().MatchString(v.Name) || slices.Contains(query.Keywords(), strings.ToUpper(v.Name)) {
		return fmt.Errorf("%w view name %q: use up to 63 letters, digits and _, a letter first, and no word of SQL",
			ErrInvalid, v.Name)
	}
	names, _, err := vs.tx.QueryTables()
	if err != nil {
		return err
	}
	if slices.Contains(names, v.Name) {
		return fmt.Errorf("%w view name %q: it is the name of a table", ErrInvalid, v.Name)
	}
	v.Select = strings.TrimRight(strings.TrimSpace(v.Select), "; \t\r\n")
	if err := vs.answers(v); err != nil {
		return err
	}
	r := row.View(v)
	return vs.tx.k.File.Put(row.Views, []byte(v.Name), row.ViewRow.Encode(&r))
}

// answers returns the error of querying a view as it would be once set, or nil.
func (vs Views) answers(v SQLView) error {
	parsed, err := tables.ParseView(v.Name, v.Select)
	if err != nil {
		return err
	}
	q := Query{Text: v.Select, Views: map[string]*syntax.View{v.Name: parsed}}
	_, err = vs.tx.Query(context.Background(), &syntax.Statement{Select: parsed.Select}, q)
	return err
}

// Fault returns why a view can no longer be answered, because one of its sources was removed,
// or nil.
func (vs Views) Fault(v SQLView) error {
	err := vs.answers(v)
	if errors.Is(err, ErrDamaged) {
		return nil // not the view's fault
	}
	return err
}

// Remove deletes a view. It fails with a Conflict if another view needs it.
func (vs Views) Remove(name string) error {
	if err := users.Operates(vs.tx.k, "views"); err != nil {
		return err
	}
	v, err := vs.Get(name)
	if err != nil {
		return err
	}
	var whole []SQLView
	err = vs.Each(func(other SQLView) error {
		if other.Name != v.Name && vs.Fault(other) == nil {
			whole = append(whole, other)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := vs.tx.k.File.Remove(row.Views, []byte(v.Name)); err != nil {
		return err
	}
	for _, other := range whole {
		if vs.Fault(other) != nil {
			r := row.View(v)
			if err := vs.tx.k.File.Put(row.Views, []byte(v.Name), row.ViewRow.Encode(&r)); err != nil {
				return err
			}
			return row.Clash("view "+v.Name, "view "+other.Name+" asks it")
		}
	}
	return nil
}
