package verbs

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/urfave/cli/v2"
)

// Help writes what there is.
func (l List[R]) Help(b *strings.Builder) {
	b.WriteString("placectl places jobs on a cluster that lives in one file.\n\n" +
		"USAGE\n  placectl [global flags] VERB [flags] [arguments]\n  placectl help VERB\n")
	category := ""
	for _, e := range l {
		v := e.Make()
		if v.Hidden {
			continue
		}
		if v.Category != category {
			category = v.Category
			b.WriteString("\n" + strings.ToUpper(category) + "\n")
		}
		WriteEntry(b, v.Name, v.Usage)
	}
	b.WriteString("\nGLOBAL FLAGS (before or after the verb)\n")
	for i := range GlobalFlags {
		f := &GlobalFlags[i]
		if f.Hidden {
			continue
		}
		usage := f.Usage
		if f.Env != "" {
			usage += " [" + f.Env + "]"
		}
		WriteEntry(b, flagLabel(f.Short, f.Name, f.Value), usage)
	}
	b.WriteString("\nTIMES      2026-11-20 10:00, 10:00, tomorrow, tomorrow 08:00, now+2h, @1795167000, RFC 3339\n" +
		"DURATIONS  90 (seconds), 45s, 1h30m, 2d12h, 1:30:00, 2-12:00:00\n" +
		"SIZES      512mb, 8gb, 1kw (words of 8 bytes), as in PBS; 8GiB, 1.5TiB; all units are powers of 1024\n")
	var statuses []int
	for _, m := range exit.Meanings {
		statuses = append(statuses, m.Code)
	}
	writeExitStatus(b, append(statuses, exit.OK, exit.Interrupted), 0, false)
	exit.WriteReasons(b)
}

// Help explains the verb, which is called by all words of path.
func (v *Verb[R]) Help(b *strings.Builder, path string) {
	fmt.Fprintf(b, "placectl %s: %s\n\nUSAGE\n", path, v.Usage)
	b.WriteString("  placectl " + path + v.usageTail() + "\n")
	if v.Description != "" {
		b.WriteString("\n" + strings.TrimSpace(v.Description) + "\n")
	}
	title := "\nVERBS\n"
	for _, sub := range v.Verbs {
		if !sub.Hidden {
			b.WriteString(title)
			title = ""
			WriteEntry(b, sub.Name, sub.Usage)
		}
	}
	writeFlags(b, v.Flags)
	if v.Example != "" {
		b.WriteString("\nEXAMPLE\n" + indented(v.Example))
	}
	if own := v.AllStatuses(); v.Passes {
		writeExitStatus(b, append(own, exit.OK, exit.Interrupted), exit.Own, false)
	} else {
		writeExitStatus(b, append(own, exit.OK, exit.Failed, exit.Usage, exit.Crash, exit.Interrupted), 0, FindFlag(v.Flags, Key) != nil)
	}
	b.WriteString("\nGlobal flags are listed by placectl help.\n")
}

func (v *Verb[R]) usageTail() string {
	tail := ""
	if len(v.Verbs) > 0 && !v.Runs() {
		tail += " VERB"
	}
	if len(v.Flags) > 0 {
		tail += " [flags]"
	}
	if args := v.synopsis(); args != "" {
		tail += " " + args
	}
	return tail
}

func writeFlags(b *strings.Builder, flags []cli.Flag) {
	title := "\nFLAGS\n"
	for _, f := range flags {
		doc, ok := f.(cli.DocGenerationFlag)
		if v, isV := f.(cli.VisibleFlag); !ok || isV && !v.IsVisible() {
			continue
		}
		b.WriteString(title)
		title = ""
		label, usage := flagEntry(doc)
		WriteEntry(b, label, usage)
	}
}

// flagEntry is a flag's line of help. As in the cli package, the first word in
// backquotes of the usage is what the value is called.
func flagEntry(f cli.DocGenerationFlag) (label, usage string) {
	usage = f.GetUsage()
	value := ""
	if f.TakesValue() {
		value = "VALUE"
		if before, rest, ok := strings.Cut(usage, "`"); ok {
			if name, after, ok := strings.Cut(rest, "`"); ok {
				value, usage = name, before+name+after
			}
		}
		if text := strings.Trim(f.GetDefaultText(), `"`); text != "" && text != "0" {
			usage += " (" + text + ")"
		}
	}
	var short, long string
	for _, n := range f.Names() {
		if len(n) == 1 {
			short = n
		} else if long == "" {
			long = n
		}
	}
	return flagLabel(short, long, value), usage
}

func flagLabel(short, long, value string) string {
	label := ""
	switch {
	case short == "":
		label = "    --" + long
	case long == "":
		label = "-" + short
	default:
		label = "-" + short + ", --" + long
	}
	if value != "" {
		label += " " + value
	}
	return label
}

const entryColumn = 30 // where the explanations of a list begin

// WriteEntry writes a line of a list: a label, and what it means.
func WriteEntry(b *strings.Builder, label, text string) {
	b.WriteString("  " + label)
	if pad := entryColumn - 2 - utf8.RuneCountInString(label); pad > 1 {
		b.WriteString(strings.Repeat(" ", pad))
	} else {
		b.WriteString("\n" + strings.Repeat(" ", entryColumn))
	}
	b.WriteString(text + "\n")
}

// writeExitStatus lists exit statuses; those of failures are greater by more than what
// they mean elsewhere. keyed says that the verb has --key.
func writeExitStatus(b *strings.Builder, show []int, more int, keyed bool) {
	b.WriteString("\nEXIT STATUS\n")
	for _, m := range exit.Meanings {
		if keyed && m.Code == exit.Unknown {
			m.Text = exit.UnknownKeyed
		}
		if m.Code != exit.OK && m.Code != exit.Interrupted {
			m.Code += more
		}
		if slices.Contains(show, m.Code) {
			fmt.Fprintf(b, "  %3d  %s\n", m.Code, m.Text)
		}
	}
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}
