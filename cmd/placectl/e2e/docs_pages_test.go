package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsPages: every page of docs/ begins with its audience, ends with where to go on, and is listed in
// docs/README.md. Links in pages lead to files and headings that exist.
func TestDocsPages(t *testing.T) {
	root := "../../../"
	list, err := os.ReadFile(root + "docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(root + "docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(pages, root+"README.md", root+"CONTRIBUTING.md", root+"bench/README.md",
		root+"bench/wagap-2013.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		page, name := string(text), strings.TrimPrefix(path, root)
		if base, inDocs := strings.CutPrefix(name, "docs/"); inDocs && base != "README.md" {
			if !strings.Contains(string(list), "]("+base+")") {
				t.Errorf("docs/README.md does not list %s", base)
			}
			if !regexp.MustCompile(`^# .*\n\nFor `).MatchString(page) {
				t.Errorf("%s does not begin with whom it is for", name)
			}
			paragraphs := strings.Split(strings.TrimSpace(page), "\n\n")
			if !strings.HasPrefix(paragraphs[len(paragraphs)-1], "Continue with [") {
				t.Errorf("%s does not end with where to continue", name)
			}
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]*))?\)`).FindAllStringSubmatch(page, -1) {
			if strings.Contains(m[1], ":") {
				continue // a link to the web
			}
			target := path
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(path), m[1])
			}
			linked, err := os.ReadFile(target)
			if info, errStat := os.Stat(target); errStat != nil || m[2] != "" && (err != nil || info.IsDir()) {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
			} else if m[2] != "" && !hasHeading(string(linked), m[2]) {
				t.Errorf("%s links to %s#%s: there is no such heading", name, m[1], m[2])
			}
		}
	}
}

// hasHeading reports whether a page has a heading with that anchor, as GitHub makes them.
func hasHeading(page, anchor string) bool {
	for line := range strings.Lines(page) {
		title, is := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !is || !strings.HasPrefix(line, "#") {
			continue
		}
		title = regexp.MustCompile(`[^\p{L}\p{N}\- _]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
		if strings.ReplaceAll(title, " ", "-") == anchor {
			return true
		}
	}
	return false
}
