package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// pasted is a page whose blocks are pasted into a shell. Each section begins in a home of its own with the
// blocks before the first one.
type pasted struct {
	page, heading string
	before, after map[string]string // shell, by section: what comes about first, and what must hold then
}

var pastedPages = []pasted{
	{"../../../README.md", "#", nil, readmeChecks},
	{"../../../docs/recipes.md", "##", nil, recipeChecks},
	{"../../../docs/recovery.md", "###", disastersBefore, disastersAfter},
	{"../../../docs/programs.md", "##", nil, nil},
	{"../../../docs/from-slurm.md", "##", nil, nil},
	{"../../../docs/from-pbs.md", "##", nil, nil},
}

// elsewherePasted are the pages whose blocks other tests run.
var elsewherePasted = map[string]string{"sql.md": "TestQuestions", "etcd.md": "TestEtcdPage",
	"tutorial.md": "TestConsolePages", "questions.md": "TestConsolePages", "policies.md": "TestConsolePages"}

// TestPages pastes every block of README.md and docs as it stands: once, twice, two at once, and with each call of
// placectl failing in turn. No block says success for a failure, and none does its work twice.
func TestPages(t *testing.T) {
	program := commandPath(t)
	for _, p := range pastedPages {
		sections, prelude := sectionsOf(t, p)
		for name, blocks := range sections {
			t.Run(filepath.Base(p.page)+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := &stranger{t, program, p, name, prelude, blocks}
				for _, b := range blocks {
					if _, err := exec.LookPath("jq"); err != nil && strings.Contains(b.code, "jq ") {
						t.Skip("it needs jq: apt-get install jq")
					}
				}
				began := time.Now()
				if jobs := s.once(); strings.Contains(codeOf(blocks), "placectl ") {
					s.two(jobs)
					s.failing()
				}
				t.Logf("%d blocks in %s", len(blocks), time.Since(began).Round(time.Second))
			})
		}
		for name := range p.after {
			if sections[name] == nil {
				t.Errorf("%s has no section %q, which has checks", p.page, name)
			}
		}
	}
}

// sectionsOf returns the blocks to paste of each section of a page, and those before the first one.
func sectionsOf(t *testing.T, p pasted) (sections map[string][]block, prelude []block) {
	sections = make(map[string][]block)
	for _, b := range readBlocks(t, p.page, p.heading) {
		switch {
		case b.not != "":
		case b.section == "":
			prelude = append(prelude, b)
		default:
			sections[b.section] = append(sections[b.section], b)
		}
	}
	if len(sections) == 0 { // a short page is one section
		sections["the page"], prelude = prelude, nil
	}
	return sections, prelude
}

// TestPagesKnown: every block of every page is pasted by a test, or the page says why it is not.
func TestPagesKnown(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	by, not := make(map[string]int), make(map[string]int)
	for _, page := range append(pages, "../../../README.md") {
		for _, b := range readBlocks(t, page, "##") {
			here := slices.ContainsFunc(pastedPages, func(p pasted) bool { return p.page == page })
			test := elsewherePasted[b.page]
			switch {
			case b.not != "":
				not[b.not]++
			case here && slices.Contains([]string{"sh", "python", "go", "cron"}, b.lang):
				by["TestPages"]++
			case test != "" && (b.lang == "console" || b.lang == "sql" || b.lang == "do"):
				by[test]++
			default:
				t.Errorf("%s:%d: nothing pastes this block (%s): say why with <!-- not pasted: ... -->", page, b.line,
					b.lang)
			}
		}
	}
	t.Logf("pasted: %v; not pasted, because it is or needs: %v", by, not)
}

// stranger pastes the blocks of a section.
type stranger struct {
	t       *testing.T
	program string
	pasted
	name    string
	prelude []block
	blocks  []block
}

// home makes a home in which the prelude has been pasted and what comes about first has come about.
func (s *stranger) home() *home {
	s.t.Helper()
	h := newHome(s.t, s.program)
	if status, said := h.paste("prelude", s.prelude); status != 0 {
		s.t.Fatalf("status %d of\n%s", status, said)
	}
	h.run(s.exports() + s.before[s.name])
	if code := codeOf(s.blocks); strings.Contains(code, "placectl wait") || strings.Contains(code, "tx -f - --wait") {
		h.repeat(cronLines(s.prelude, s.blocks))
	}
	return h
}

// exports are the lines of the prelude that set variables: they hold in the same terminal.
func (s *stranger) exports() string {
	return strings.Join(regexp.MustCompile(`(?m)^export .*\n`).FindAllString(codeOf(s.prelude), -1), "")
}

func codeOf(blocks []block) (code string) {
	for _, b := range blocks {
		if b.lang == "sh" {
			code += b.code
		}
	}
	return code
}

// paste pastes the blocks of the section after the exports of the prelude.
func (s *stranger) paste(h *home, as string, env ...string) (status int, said string) {
	return h.paste(as, append([]block{{lang: "sh", code: s.exports()}}, s.blocks...), env...)
}

// holds reports whether what the section promises is so.
func (s *stranger) holds(h *home) error {
	after, ok := s.after[s.name]
	if s.after != nil && !ok {
		s.t.Fatalf("there is no check for section %q", s.name)
	}
	return h.try(s.exports() + after)
}

// jobs returns how many jobs each database in a home has.
func (h *home) jobs() string {
	cmd, said := h.command(h.t.Context(),
		`for db in *.db lab/*.db; do test ! -e $db || echo $db $(placectl --db $db query "SELECT count(*) FROM jobs" -o id); done`)
	if err := cmd.Run(); err != nil {
		h.t.Fatalf("%v: %s", err, said)
	}
	return said.String()
}

// again are sections whose work is wanted each time that they are pasted.
var again = []string{"A pool of CI runners", "One that stays up"}

// once pastes the section, and again in the same home. It returns the jobs that there were in between.
func (s *stranger) once() (jobs string) {
	h := s.home()
	if status, said := s.paste(h, "once"); status != 0 {
		s.t.Fatalf("status %d of\n%s", status, said)
	}
	was := h.jobs()
	if err := s.holds(h); err != nil {
		s.t.Fatal(err)
	}
	if !strings.Contains(codeOf(s.blocks), "placectl ") {
		return was
	}
	before := h.jobs() // the check may have added some
	status, said := s.paste(h, "twice")
	if now := h.jobs(); now != before && !slices.Contains(again, s.name) && s.before == nil {
		s.t.Errorf("pasted twice, there are the jobs %s, once %s; status %d of\n%s", now, before, status, said)
	}
	return was
}

// two pastes the section in two terminals at once. Then there are the jobs of one.
func (s *stranger) two(jobs string) {
	if s.before != nil || slices.Contains(again, s.name) {
		return // disasters are one person's
	}
	h := s.home()
	var both sync.WaitGroup
	var status [2]int
	var said [2]string
	for i := range 2 {
		both.Go(func() { status[i], said[i] = s.paste(h, "terminal"+strconv.Itoa(i)) })
	}
	both.Wait()
	if now := h.jobs(); now != jobs || status[0] != 0 && status[1] != 0 {
		s.t.Errorf("pasted twice at once, with status %v, there are the jobs %s, once %s:\n%s\n%s", status, now, jobs,
			said[0], said[1])
	}
}

// failing pastes the section once for each call of placectl, which fails. Then the section fails, or all is well
// nevertheless. Without -long some calls are left out, by the seed.
func (s *stranger) failing() {
	random := seeded(s.t)
	for n := 1; ; n++ {
		if !*long && random.IntN(6) > 0 {
			continue
		}
		h := s.home()
		status, said := s.paste(h, "failing", "PASTE_FAIL="+strconv.Itoa(n))
		if _, err := os.Stat(filepath.Join(h.dir, "failed")); err != nil {
			return // there are fewer calls
		}
		if status == 0 {
			if err := s.holds(h); err != nil {
				s.t.Errorf("call %d of placectl fails, and the status is 0 of\n%s\nthough %v", n, said, err)
			}
		}
	}
}

// cronLines returns the commands of crontabs, as a script that runs each as cron does.
func cronLines(lists ...[]block) (script string) {
	for _, b := range slices.Concat(lists...) {
		for line := range strings.Lines(b.code) {
			if command, is := strings.CutPrefix(line, "* * * * * "); is && b.lang == "cron" {
				script += fmt.Sprintf(
					"env -i HOME=\"$HOME\" %s=ann PATH=\"$HOME/stand-ins/cron:/usr/bin:/bin\" sh -c '%s'\n", testUser,
					strings.TrimSpace(command))
			}
		}
	}
	return script
}
