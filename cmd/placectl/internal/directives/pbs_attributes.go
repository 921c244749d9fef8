package directives

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// notAttribute says why placectl cannot honour an attribute of -W, "" for all others.
func notAttribute(name string) string {
	switch name {
	case "sandbox":
		return "a job runs in its directory: #placectl --chdir"
	case "stagein", "stageout":
		return "copy in the script"
	case "run_count":
		return "a job is tried again as --retries says"
	case "pwd":
		return "there are no passwords"
	case "release_nodes_on_stageout":
		return "nodes are given back when the job has ended"
	case "tolerate_node_failures":
		return "a job ends with the first of its nodes"
	}
	return ""
}

// pbsAttributes reads -W: NAME=VALUE, joined by commas. An item without = continues the value before it.
func (r *reader) pbsAttributes(v string) error {
	parts, err := quotedItems(v)
	if err != nil {
		return err
	}
	var attributes []string
	for _, part := range parts {
		if last := len(attributes) - 1; last >= 0 && !strings.Contains(part, "=") {
			attributes[last] += "," + part
			continue
		}
		attributes = append(attributes, part)
	}
	for _, a := range attributes {
		name, value, ok := strings.Cut(a, "=")
		if !ok || name == "" || value == "" {
			return fmt.Errorf("%q is not name=value", a)
		}
		if err := r.pbsAttribute(name, unquoted(value)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (r *reader) pbsAttribute(name, value string) error {
	switch name {
	case "depend":
		return r.pbsDepend(value)
	case "x": // Maui's extensions
		if strings.HasPrefix(value, "PREF(") && strings.HasSuffix(value, ")") {
			r.set("prefer", value)
			return nil
		}
	case "umask":
		if n, err := strconv.ParseUint(value, 8, 32); err != nil || n > 0o777 {
			return fmt.Errorf("%q is not a number in octal up to 777", value)
		}
		r.set("umask", value)
		return nil
	case "group_list":
		if strings.ContainsAny(value, "@,") {
			return fmt.Errorf("%q: name one group, the same on all hosts", value)
		}
		return to("group")(r, value)
	case "block":
		if value != "false" {
			return errors.New("placectl wait")
		}
		r.note(r.here, "block=false: submit does not wait anyway")
		return nil
	}
	if why := notAttribute(name); why != "" {
		return errors.New(why)
	}
	r.unknown(r.here, fmt.Errorf("qsub has no attribute %s", name))
	return nil
}

// dependencies are the kinds of dependency that all families have, under the same names.
var dependencies = []string{"after", "afterok", "afternotok", "afterany"}

// pbsDepend reads TYPE:JOB[:JOB], joined by commas.
func (r *reader) pbsDepend(v string) error {
	for part := range strings.SplitSeq(v, ",") {
		kind, jobs, _ := strings.Cut(part, ":")
		if !slices.Contains(dependencies, kind) {
			return fmt.Errorf("%q is not after, afterok, afternotok or afterany, for jobs already submitted", kind)
		}
		for job := range strings.SplitSeq(jobs, ":") {
			number, server, named := strings.Cut(job, ".") // 12.server
			if !isJob(number) || named && server == "" {
				return fmt.Errorf("%q is not a job such as 12, 12[3] or 12[]", job)
			}
			r.add(kind, number)
		}
	}
	return nil
}

// isJob reports whether a text names a job or jobs of an array: 12, 12[3], 12[].
func isJob(s string) bool {
	number, rest, isArray := strings.Cut(s, "[")
	if !isDigits(number) {
		return false
	}
	index, ok := strings.CutSuffix(rest, "]")
	return !isArray || ok && (index == "" || isDigits(index))
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
