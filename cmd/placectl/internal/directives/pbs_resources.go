package directives

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
)

// resourceLists is what all lines with -l request.
type resourceLists struct {
	sel, nodes pbsItem
	wants      []pbsItem // resources of the one chunk, if there is no select
}

// pbsItem is name=value in a resource list.
type pbsItem struct {
	spot
	name, text string
}

// notResource says why placectl cannot honour an item of PBS's resource lists, "" for all others.
func notResource(name string) string {
	switch name {
	case "software":
		return "--pool"
	case "min_walltime", "max_walltime":
		return "a job has one walltime: -l walltime"
	case "nice":
		return "jobs are not run at another nice value: call nice in the script"
	case "cput", "pcput":
		return "time is counted by the clock: -l walltime"
	}
	return ""
}

// pbsResources reads -l: items name=value, joined by commas outside quotes.
func (r *reader) pbsResources(v string) error {
	items, err := quotedItems(v)
	if err != nil {
		return err
	}
	for _, item := range items {
		if strings.TrimSpace(item) == "wd" { // it runs where it was submitted
			r.set("chdir", ".")
			continue
		}
		name, value, ok := strings.Cut(item, "=")
		if name = strings.TrimSpace(name); !ok || name == "" || value == "" {
			return fmt.Errorf("%q is not name=value", item)
		}
		if err := r.pbsResource(pbsItem{r.here, name, item}, value); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) pbsResource(item pbsItem, value string) error {
	l := &r.pbs.resources
	key := strings.ToLower(item.name)
	switch {
	case key == "select":
		item.text = unquoted(value)
		l.sel = item
	case key == "nodes":
		l.nodes = item
	case key == "place":
		return to("place")(r, unquoted(value))
	case key == "walltime":
		seconds, err := clockSeconds(unquoted(value))
		if err != nil {
			return fmt.Errorf("walltime: %w", err)
		}
		r.set("walltime", clock(seconds))
	case key == "nice" && value == "0":
		r.note(r.here, "nice=0: ignored, it is what a job has anyway")
	case notResource(key) != "":
		return fmt.Errorf("%s: %s", item.name, notResource(key))
	case r.o.Pool != nil && r.o.Pool(item.name):
		r.pool(item.name, value)
	case !r.o.Resource(item.name):
		r.unknown(r.here, &index.UnknownResource{Name: item.name})
	default:
		same := func(old pbsItem) bool { return strings.EqualFold(old.name, item.name) }
		if key == "feature" { // a node may need several features
			same = func(old pbsItem) bool { return old.text == item.text }
		}
		l.wants = append(slices.DeleteFunc(l.wants, same), item)
	}
	return nil
}

// finishResources makes the select from -l. A list of resources stays a list: submit reads it as PBS
// does.
func (r *reader) finishResources() {
	l := r.pbs.resources
	last := l.sel.spot.later(l.nodes.spot)
	for _, w := range l.wants {
		last = last.later(w.spot)
	}
	switch {
	case !last.given():
	case l.sel.given() && l.nodes.given():
		r.refuse(last, "select= and nodes= exclude each other")
	case l.sel.given() && len(l.wants) > 0:
		r.refuse(last, "%s cannot stand beside select=: write it into the chunk", l.wants[0].name)
	case l.sel.given():
		r.setUnlessLater(last, "select", l.sel.text)
	default:
		var list []string
		if l.nodes.given() {
			list = append(list, l.nodes.text)
		}
		for _, w := range l.wants {
			list = append(list, w.text)
		}
		r.setUnlessLater(last, "select", strings.Join(list, ","))
	}
}

// quotedItems splits a list at the commas outside quotes. The quotes stay.
func quotedItems(list string) ([]string, error) {
	var items []string
	var quote byte
	from := 0
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == quote:
			quote = 0
		case quote != 0:
		case c == '\'' || c == '"':
			quote = c
		case c == ',':
			items = append(items, list[from:i])
			from = i + 1
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote in it is not closed")
	}
	return append(items, list[from:]), nil
}

// unquoted removes quotes around a whole value.
func unquoted(value string) string {
	n := len(value)
	if n > 1 && (value[0] == '"' || value[0] == '\'') && strings.IndexByte(value[1:], value[0]) == n-2 {
		return value[1 : n-1]
	}
	return value
}
