package lint

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A page is a part of a package's protocol. dir is the folder of the package whose tests it cites by their names alone.
type page struct{ path, dir, text string }

// protocol reads the pages of the protocol of dir: its PROTOCOL.md, the pages of its folder protocol, and those of the
// packages in its folder internal.
func protocol(t *testing.T, dir string) (pages []page) {
	t.Helper()
	for _, pattern := range []string{"PROTOCOL.md", "protocol/*.md", "internal/*/PROTOCOL.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), filepath.FromSlash(pattern)))
		require.NoError(t, err)
		for _, f := range found {
			rel, err := filepath.Rel(root, f)
			require.NoError(t, err)
			rel = filepath.ToSlash(rel)
			pages = append(pages, page{rel, strings.TrimSuffix(path.Dir(rel), "/protocol"), read(t, rel)})
		}
	}
	require.NotEmpty(t, pages)
	return pages
}

// text is that of all pages.
func text(pages []page) string {
	var b strings.Builder
	for _, p := range pages {
		b.WriteString(p.text + "\n")
	}
	return b.String()
}

// definition finds what a protocol defines: an obligation or an invariant.
var definition = regexp.MustCompile(`\*\*([A-Z][1-9][0-9]*)\*\*`)

// once: no page defines what another defines.
func once(pages []page) (wrong []string) {
	first := make(map[string]string)
	for _, p := range pages {
		for _, m := range definition.FindAllStringSubmatch(p.text, -1) {
			if other, ok := first[m[1]]; ok {
				wrong = append(wrong, fmt.Sprintf("%s: %s is defined in %s already", p.path, m[1], other))
			}
			first[m[1]] = p.path
		}
	}
	return wrong
}

// undefined: what a page speaks of is defined.
func undefined(pages []page) (wrong []string) {
	defined := make(map[string]bool)
	for _, m := range definition.FindAllStringSubmatch(text(pages), -1) {
		defined[m[1]] = true
	}
	for _, p := range pages {
		for _, name := range regexp.MustCompile(`\b[DILPS][1-9][0-9]*\b`).FindAllString(p.text, -1) {
			if !defined[name] {
				wrong = append(wrong, fmt.Sprintf("%s: no page defines %s", p.path, name))
			}
		}
	}
	return slices.Compact(wrong)
}

var (
	ofSite   = regexp.MustCompile(`\b[PDCGWRL][1-9][0-9]*\([^)]+\)`)
	firstRow = regexp.MustCompile(`(?m)^\|([^|]*)\|`)
	testedBy = regexp.MustCompile(`(?ms)^#+ Tested by$.*?(?:^#|\z)`)
)

// sitesOf returns the sites of files, each with the path of a file that has it.
func sitesOf(files []*file) map[string]string {
	has := make(map[string]string)
	for _, f := range files {
		for _, comment := range f.comments() {
			for _, s := range sitesIn(comment) {
				has[s.String()] = f.path
			}
		}
	}
	return has
}

// rows: the pages have a row for each site of files, and files have each site that a page names. A row is one of a
// table, or a text after the site's name and a colon.
func rows(files []*file, pages []page) (wrong []string) {
	told := make(map[string]bool)
	for _, p := range pages {
		body := testedBy.ReplaceAllString(p.text, "#")
		for _, m := range firstRow.FindAllStringSubmatch(body, -1) {
			for _, name := range ofSite.FindAllString(m[1], -1) {
				told[name] = true
			}
		}
		for _, s := range sitesIn(body) {
			told[s.String()] = true
		}
	}
	has := sitesOf(files)
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if !told[name] {
			wrong = append(wrong, fmt.Sprintf("%s: no page has a row for %s", has[name], name))
		}
	}
	for _, p := range pages {
		for _, name := range ofSite.FindAllString(p.text, -1) {
			if has[name] == "" {
				wrong = append(wrong, fmt.Sprintf("%s: %s has no site: no comment begins %s:", p.path, name, name))
			}
		}
	}
	return wrong
}

// gone: each site that a comment of tests names is one of those that files have.
func gone(tests, files []*file) (wrong []string) {
	has := sitesOf(files)
	for _, f := range tests {
		for _, comment := range f.comments() {
			for _, name := range ofSite.FindAllString(comment, -1) {
				if has[name] == "" {
					wrong = append(wrong, fmt.Sprintf("%s: %s has no site in the code that is tested", f.path, name))
				}
			}
		}
	}
	return wrong
}

// stray: no comment of files names a site. It is for packages whose tags no page would tell. A tag without a site may
// be anything, as L1, a cache.
func stray(files []*file) (wrong []string) {
	for _, f := range files {
		for _, comment := range f.comments() {
			for _, name := range ofSite.FindAllString(comment, -1) {
				wrong = append(wrong, fmt.Sprintf("%s: %s belongs to no protocol, see protocolOf", f.path, name))
			}
		}
	}
	return wrong
}

// protocols are the folders with a protocol whose tags the module's comments cite. That of clusters is of a module of
// its own.
var protocols = []string{"deque", "executor", "notifier"}

// withCluster are the folders with a protocol, whatever its module.
var withCluster = append([]string{"executor/cluster"}, protocols...)

// byProtocol returns the module's files but tests, by the folder whose protocol covers them.
func byProtocol(t *testing.T) map[string][]*file {
	packages := make(map[string][]*file)
	for _, f := range moduleFiles(t) {
		if !f.isTest() {
			dir := protocolOf(f.dir())
			packages[dir] = append(packages[dir], f)
		}
	}
	return packages
}

var (
	link    = regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// links: the pages and headings that a page refers to exist. read returns a file's text, of a folder something, or "".
func links(p page, read func(rel string) string) (wrong []string) {
	for _, m := range link.FindAllStringSubmatch(p.text, -1) {
		to := p.text
		if m[1] != "" {
			to = read(path.Join(path.Dir(p.path), m[1]))
		}
		anchors := map[string]bool{"": to != ""}
		for _, h := range heading.FindAllStringSubmatch(to, -1) {
			anchors[anchor(h[1])] = true
		}
		if !anchors[m[2]] {
			wrong = append(wrong, fmt.Sprintf("%s: %s leads nowhere", p.path, m[0]))
		}
	}
	return wrong
}

// anchor is the fragment of an address that leads to a heading.
func anchor(heading string) string {
	letters := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(letters, " ", "-")
}

// brokenLinks returns what is wrong with the links of pages.
func brokenLinks(t *testing.T, pages []page) (wrong []string) {
	for _, p := range pages {
		wrong = append(wrong, links(p, func(rel string) string {
			switch info, err := os.Stat(filepath.Join(root, filepath.FromSlash(rel))); {
			case err != nil:
				return ""
			case info.IsDir():
				return rel
			}
			return read(t, rel)
		})...)
	}
	return wrong
}

func TestProtocolLinks(t *testing.T) {
	for _, dir := range withCluster {
		wrong := brokenLinks(t, protocol(t, dir))
		require.Empty(t, wrong, "\n%s", strings.Join(wrong, "\n"))
	}
}

// most is how many lines a page may have.
const most = 500

// outline: the first page refers to the others, and none is longer than most.
func outline(dir string, pages []page) (wrong []string) {
	for i, p := range pages {
		if n := strings.Count(p.text, "\n"); n > most {
			wrong = append(wrong, fmt.Sprintf("%s: %d lines, of at most %d: split it", p.path, n, most))
		}
		if i > 0 && !strings.Contains(pages[0].text, "]("+strings.TrimPrefix(p.path, dir+"/")+")") {
			wrong = append(wrong, fmt.Sprintf("%s: %s does not refer to it", p.path, pages[0].path))
		}
	}
	return wrong
}

// TestProtocolPages: the pages of a protocol are short, its PROTOCOL.md refers to all, and they number their
// obligations and invariants together. No page belongs to no protocol.
func TestProtocolPages(t *testing.T) {
	var wrong, known []string
	for _, dir := range withCluster {
		pages := protocol(t, dir)
		require.Equal(t, dir+"/PROTOCOL.md", pages[0].path)
		wrong = slices.Concat(wrong, outline(dir, pages), once(pages), undefined(pages))
		for _, p := range pages {
			known = append(known, p.path)
		}
	}
	require.Empty(t, wrong, "\n%s", strings.Join(wrong, "\n"))
	require.ElementsMatch(t, known, protocolFiles(t))
}

// protocolFiles lists the pages of protocols in the tree, by their names.
func protocolFiles(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && name != root {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, name)
		rel = filepath.ToSlash(rel)
		if d.Name() == "PROTOCOL.md" || path.Base(path.Dir(rel)) == "protocol" && path.Ext(rel) == ".md" {
			paths = append(paths, rel)
		}
		return err
	})
	require.NoError(t, err)
	return paths
}

func TestProtocolRulesBite(t *testing.T) {
	a, b := page{"p/A.md", "p", "# A\n\n**D1** and I2"}, page{"p/q/B.md", "p", "## I'm `it`, B\n\n**I2**, see "}
	require.Empty(t, once([]page{a, b}))
	require.NotEmpty(t, once([]page{a, b, a}))
	require.Empty(t, outline("p", []page{{"p/P.md", "p", "[b](q/B.md)"}, b}))
	require.NotEmpty(t, outline("p", []page{a, b}))
	require.NotEmpty(t, outline("p", []page{{"p/P.md", "p", strings.Repeat("x\n", most+1)}}))
	require.Empty(t, undefined([]page{a, b}))
	require.NotEmpty(t, undefined([]page{a}))
	code := []*file{parse(t, "p/x.go", "package p\n\n// D1(a): mine, then yours.\nvar x int\n")}
	tell := func(text string) []string { return rows(code, []page{a, {"p/C.md", "p", text}}) }
	require.Empty(t, tell("| D1(a), D1(a), of x | x |"))
	require.Empty(t, tell("* D1(a): x\n\n## Tested by\n\n* D1(a): `TestX`\n"))
	require.Empty(t, tell("## Tested by\n\n* `TestX`\n\n## More\n\nD1(a): x"))
	for name, text := range map[string]string{
		"no row":               "x",
		"spoken of only":       "as D1(a) does",
		"another cell":         "| x | D1(a) |",
		"tested only":          "## Tested by\n\n* D1(a): `TestX`\n",
		"a row that is gone":   "D1(a): x\n\n| D1(b) | x |",
		"spoken of, but gone":  "D1(a): x, before P1(b)",
		"tested, but gone":     "D1(a): x\n\n## Tested by\n\n* D1(b): `TestX`\n",
		"a row of another tag": "D2(a): x",
		"a partner":            "It pairs with\nD1(a): x.",
		"another's words":      "The same as D1(a): x.",
	} {
		require.NotEmpty(t, tell(text), name)
	}
	about := func(comment string) []string {
		return gone([]*file{parse(t, "p/x_test.go", "package p\n\n// "+comment+"\nvar y int\n")}, code)
	}
	require.Empty(t, about("TestA: D1(a), of I2."))
	require.NotEmpty(t, about("TestA: D1(b)."))
	require.NotEmpty(t, about("D1(b): the test's own."))
	require.NotEmpty(t, stray(code))
	require.Empty(t, stray([]*file{parse(t, "p/x.go", "package p\n\n// P3 of document 7, by C17().\nvar x int\n")}))
	files := map[string]string{a.path: a.text, b.path: b.text}
	see := func(to string) []string {
		return links(page{b.path, b.dir, b.text + to}, func(rel string) string { return files[rel] })
	}
	for _, to := range []string{"[a](../A.md)", "[a](../A.md#a)", "[b](#im-it-b)", "[c](https://c.d/e#f)"} {
		require.Empty(t, see(to), to)
	}
	for _, to := range []string{"[a](A.md)", "[a](../A.md#b)", "[b](#b)"} {
		require.NotEmpty(t, see(to), to)
	}
}
