package directives

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/internal/text"
)

// The meanings of options that both families have.

// to maps an option to a flag with the same value.
func to(flag string) func(*reader, string) error {
	return func(r *reader, v string) error {
		if v == "" {
			return errors.New("it needs a value")
		}
		r.set(flag, v)
		return nil
	}
}

func switchOn(flag string) func(*reader, string) error {
	return func(r *reader, _ string) error { r.turn(flag, true); return nil }
}

// refused refuses an option that placectl cannot honour.
func refused(why string) func(*reader, string) error {
	return func(*reader, string) error { return errors.New(why) }
}

// noted ignores an option that changes nothing here.
func noted(why string) func(*reader, string) error {
	return func(r *reader, _ string) error { r.note(r.here, "ignored: "+why); return nil }
}

// noteIf ignores an option with one value that changes nothing, and refuses any other value.
func noteIf(value, note, why string) func(*reader, string) error {
	return func(r *reader, v string) error {
		if !strings.EqualFold(v, value) {
			return errors.New(why)
		}
		return noted(note)(r, v)
	}
}

// array reads the indices of an array. Here a single number is an index.
func (r *reader) array(v string) error {
	a, err := text.ParseIndexes(v, r.o.MaxArray)
	if err != nil {
		return err
	}
	r.set("array", a.String())
	return nil
}

// slurmArray reads the indices of an array as sbatch does: they may be in brackets, and %0 is no limit.
func (r *reader) slurmArray(v string) error {
	list, limit, limited := strings.Cut(v, "%")
	if inner, ok := strings.CutPrefix(list, "["); ok && strings.HasSuffix(inner, "]") {
		list = strings.TrimSuffix(inner, "]")
	}
	if limited && (limit == "" || strings.Trim(limit, "0") != "") {
		list += "%" + limit
	}
	return r.array(list)
}

// pool requests an amount of the whole cluster. The last amount of a pool counts.
func (r *reader) pool(name, amount string) {
	for i, f := range r.Flags {
		if known, _, _ := strings.Cut(f.Value, "="); f.Name == "pool" && known == name {
			r.Flags = append(r.Flags[:i], r.Flags[i+1:]...)
			break
		}
	}
	r.add("pool", name+"="+amount)
}

// variables reads NAME and NAME=VALUE, joined by commas outside quotes.
func (r *reader) variables(v string) error {
	items, err := text.SplitItems(v)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return errors.New("it needs a value")
	}
	for _, item := range items {
		if name, _, _ := strings.Cut(item, "="); !isVariable(name) {
			return fmt.Errorf("%q is not the name of a variable; put a value with a comma in quotes", name)
		}
	}
	r.export(items)
	return nil
}

// export adds variables to those that are exported. The word all comes first.
func (r *reader) export(items []string) {
	r.addItems("export", items)
	f, _ := r.was("export")
	all, _ := text.SplitItems(f.Value)
	if i := slices.Index(all, "all"); i > 0 {
		r.set("export", text.JoinItems(slices.Insert(slices.Delete(all, i, i+1), 0, "all")))
	}
}

func isVariable(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// mailEvents are the words of --mail, in the order of output.
var mailEvents = [...]string{"begin", "end", "fail", "requeue"}

// mail adds events to those that are mailed.
func (r *reader) mail(begin, end, fail, requeue bool) {
	old, _ := r.was("mail")
	var words []string
	for i, on := range [...]bool{begin, end, fail, requeue} {
		if on || strings.Contains(","+old.Value+",", ","+mailEvents[i]+",") {
			words = append(words, mailEvents[i])
		}
	}
	if len(words) > 0 {
		r.set("mail", strings.Join(words, ","))
	}
}

// addresses reads the recipients of mail, joined by commas.
func (r *reader) addresses(v string) error {
	items := strings.Split(v, ",")
	for _, item := range items {
		if item == "" || strings.ContainsAny(item, " '\"\\=") {
			return fmt.Errorf("%q is not a list of addresses", v)
		}
	}
	r.addItems("mail-to", items)
	return nil
}
