package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// isLibrary reports whether dir has code that users compile. The model checker has none: it is in the table only
// because libraries import it under its tag. Packages for tests have none either.
func isLibrary(dir string) bool {
	_, inTable := layers[dir]
	return dir != "internal/model" && !slices.Contains(testsOnly, dir) && (inTable || !isTool(dir))
}

// isTool reports whether dir is in cmd or internal, where a package is a library only if a library imports it.
func isTool(dir string) bool {
	first, _, _ := strings.Cut(dir, "/")
	return first == "cmd" || first == "internal"
}

// isPublic reports whether users can import dir.
func isPublic(dir string) bool {
	return !isTool(dir) && !slices.Contains(strings.Split(dir, "/"), "internal")
}

// unlisted returns the libraries among dirs that have no row in the table.
func unlisted(dirs []string) (missing []string) {
	for _, dir := range dirs {
		if _, ok := layers[dir]; !ok && isLibrary(dir) {
			missing = append(missing, dir)
		}
	}
	return missing
}

// A rule returns messages about what is wrong with a file.
type rule func(f *file) []string

func imports(f *file) (wrong []string) {
	if !f.isLibrary() {
		return nil
	}
	allowed := layers[f.dir()]
	for i, p := range f.imports() {
		first, _, _ := strings.Cut(p, "/")
		isStd := !strings.Contains(first, ".") && !isModuleDir(p)
		switch {
		case isStd, strings.HasPrefix(p, "golang.org/x/sys/"), slices.Contains(allowed, p):
		default:
			wrong = append(wrong, fmt.Sprintf("%s: package %s must not import %s", f.at(f.ast.Imports[i]), f.dir(), p))
		}
	}
	return wrong
}

// heavy are the packages of the standard library that bring hundreds of kilobytes into a program.
var heavy = []string{"encoding/json", "log/slog", "net/http", "os/exec", "regexp", "text/template"}

// light: neither the executor nor what it imports imports a heavy package. Every program with an executor has all of
// them.
func light(f *file) (wrong []string) {
	if !f.isLibrary() || f.dir() != "executor" && !slices.Contains(layers["executor"], f.dir()) {
		return nil
	}
	for i, p := range f.imports() {
		if slices.Contains(heavy, p) {
			wrong = append(wrong, fmt.Sprintf("%s: %s makes every program with an executor larger", f.at(f.ast.Imports[i]), p))
		}
	}
	return wrong
}

// foundation: internal has what stands below the libraries. Nothing of it, its tests included, imports what stands
// above them all: the executor, graphs, commands.
func foundation(f *file) (wrong []string) {
	if !strings.HasPrefix(f.path, "internal/") {
		return nil
	}
	for i, p := range f.imports() {
		if first, _, _ := strings.Cut(p, "/"); slices.Contains([]string{"executor", "graph", "cmd"}, first) {
			wrong = append(wrong, fmt.Sprintf("%s: internal must not import %s", f.at(f.ast.Imports[i]), p))
		}
	}
	return wrong
}

// nestedModules are the modules inside this one, by folder. They depend on what users of the libraries are not to
// depend on. Each has a step of its own in .ci/steps.
var nestedModules = []string{
	"cmd/internal/rivals", "cmd/magpievet", "cmd/wsfigures", "executor/cluster", "executor/cluster/internal/onetrace",
	"executor/metrics/otel",
	"executor/metrics/prom",
}

var (
	replaces = regexp.MustCompile(`(?m)^\s*replace\b(.*)$`)
	requires = regexp.MustCompile(`(?m)^\s*(require\s+)?` + regexp.QuoteMeta(module) + `\s+v`)
)

// nestedModule checks the go.mod of the nested module in dir. One in cmd that users install is a tool, which neither
// requires this module nor replaces anything: go install with a version refuses a module with replacements. Any other
// requires this module, and has it replaced by the folder around it and nothing else: it is tested with the code beside
// it, and the replacement does not apply to those that import it. A module below an internal folder, which nobody
// imports, may have other modules of this repository replaced by their folders.
func nestedModule(dir, goMod string) (wrong []string) {
	if !strings.HasPrefix(goMod, "module "+module+"/"+dir+"\n") {
		wrong = append(wrong, dir+"/go.mod: the module is not named after its folder")
	}
	if !strings.HasPrefix(dir, "cmd/") || strings.HasPrefix(dir, "cmd/internal/") {
		up := strings.Repeat("/..", strings.Count(dir, "/")+1)[1:]
		replaced := slices.DeleteFunc(replaces.FindAllStringSubmatch(goMod, -1), func(r []string) bool {
			other, to, _ := strings.Cut(r[1], " => ")
			return strings.Contains(dir, "/internal/") && other == " "+module+"/"+path.Join(dir, to)
		})
		if len(replaced) != 1 || replaced[0][1] != " "+module+" => "+up {
			wrong = append(wrong, dir+"/go.mod: it does not replace the module around it, and that only")
		}
		if !requires.MatchString(goMod) {
			wrong = append(wrong, dir+"/go.mod: it does not require the module around it")
		}
		return wrong
	}
	if replaces.MatchString(goMod) {
		wrong = append(wrong, dir+"/go.mod: it replaces modules, so that go install refuses it")
	}
	if requires.MatchString(goMod) {
		wrong = append(wrong, dir+"/go.mod: it requires the module around it")
	}
	return wrong
}

// isModuleDir reports whether p, an import path without the module's, is a package of the module.
func isModuleDir(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	_, inTable := layers[first]
	return inTable || isTool(first)
}

// testsOnly are the packages that judge others, and their dependencies. A user who builds the module compiles none of
// them.
var testsOnly = []string{
	"internal/history", "internal/testkit", "executor/internal/fixture",
	"github.com/anishathalye/porcupine", "github.com/google/go-cmp", "github.com/stretchr/testify",
}

// testImports: only tests, and the packages for tests themselves, import testsOnly.
func testImports(f *file) (wrong []string) {
	if f.isTest() || slices.Contains(testsOnly, f.dir()) {
		return nil
	}
	for i, p := range f.imports() {
		isIt := func(only string) bool { return p == only || strings.HasPrefix(p, only+"/") }
		if slices.ContainsFunc(testsOnly, isIt) {
			wrong = append(wrong, f.at(f.ast.Imports[i])+": "+p+" is for tests only")
		}
	}
	return wrong
}

func TestTestImports(t *testing.T) {
	for _, path := range []string{"deque/x.go", "cmd/wsbench/internal/bench/x.go", "cmd/x/x.go"} {
		for _, only := range testsOnly {
			if isModuleDir(only) {
				only = module + "/" + only
			}
			f := parse(t, path, `package x; import "`+only+`"`)
			require.NotEmpty(t, testImports(f), "the rule lets pass: %s imports %s", path, only)
		}
	}
	testify := `package x; import "github.com/stretchr/testify/require"`
	require.NotEmpty(t, testImports(parse(t, "executor/x.go", testify)))
	porcupine := `package x; import "github.com/anishathalye/porcupine"`
	require.Empty(t, testImports(parse(t, "internal/history/x.go", porcupine)))
	require.Empty(t, testImports(parse(t, "deque/x_test.go", `package x; import "`+module+`/internal/history"`)))
	for _, f := range moduleFiles(t) {
		require.Empty(t, testImports(f))
	}
}

// unsafeFiles exempts internal/model, which handles words of memory throughout and is never part of a normal build.
func unsafeFiles(f *file) (wrong []string) {
	if f.dir() == "internal/model" {
		return nil
	}
	for i, p := range f.imports() {
		if p == "unsafe" && !strings.Contains(path.Base(f.path), "_unsafe") {
			wrong = append(wrong, f.at(f.ast.Imports[i])+": unsafe belongs in a file whose name contains _unsafe")
		}
	}
	return wrong
}

func noCgoNoLinkname(f *file) (wrong []string) {
	for i, p := range f.imports() {
		if p == "C" {
			wrong = append(wrong, f.at(f.ast.Imports[i])+": no cgo")
		}
	}
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:linkname ") {
				wrong = append(wrong, f.at(c)+": no linkname: what is behind it may change with any Go release")
			}
		}
	}
	return wrong
}

// goFiles start the only goroutines of the libraries, through internal/xsync: workers, the writer of a trace, and the
// reader of a sequence, which Go cannot suspend on a worker: the coroutines of iter.Pull are bound to a thread there.
var goFiles = []string{
	"executor/thread.go", "executor/aside.go", "executor/observe/writer.go", "executor/pipeline/source.go",
}

func goStatements(f *file) (wrong []string) {
	if !f.isLibrary() || slices.Contains(goFiles, f.path) || f.dir() == "internal/xsync" {
		return nil
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			wrong = append(wrong, f.at(n)+": a go statement outside executor/thread.go and aside.go")
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" && !isScope(s.X) {
				wrong = append(wrong, f.at(n)+": a call of Go, which starts a goroutine, outside executor/thread.go and aside.go")
			}
		}
		return true
	})
	return wrong
}

// isScope reports whether x is an executor.Scope, going by the usual name: the Go method of a Scope starts a child.
func isScope(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == "s"
}

// channelFiles are the files of libraries that may use channels: code that users wait in, the inline executor, the
// writer of a trace, for which no worker waits there, sources of pipelines, which wait in Blocking, and what the first
// of these call. All other code of libraries may run between one item and the next.
var channelFiles = []string{
	"executor/async.go", "executor/context.go", "executor/future.go", "executor/futureend.go", "executor/futurewait.go",
	"executor/group.go", "executor/groupturn.go", "executor/inline.go", "executor/intake.go",
	"executor/observe/writer.go", "executor/patience.go", "executor/pipeline/source.go", "executor/run.go",
	"executor/shutdown.go", "executor/until.go", "graph/hand.go",
	"internal/xsync/twins_unsafe.go", "internal/xsync/xsync.go",
}

func channels(f *file) []string {
	if !f.isLibrary() || slices.Contains(channelFiles, f.path) {
		return nil
	}
	return channelUses(f)
}

func channelUses(f *file) (wrong []string) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		what := ""
		switch n := n.(type) {
		case *ast.ChanType:
			what = "a channel type"
		case *ast.SelectStmt:
			what = "a select"
		case *ast.SendStmt:
			what = "a send"
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				what = "a receive"
			}
		}
		if what != "" {
			wrong = append(wrong, f.at(n)+": "+what+" where workers must not meet channels")
		}
		return true
	})
	return wrong
}

// docs: every exported identifier of a public package has a doc comment. Error and String are exempt: their interfaces
// say it all.
func docs(f *file) (wrong []string) {
	if !isPublic(f.dir()) || f.isTest() {
		return nil
	}
	missing := func(n ast.Node, name string) {
		wrong = append(wrong, f.at(n)+": "+name+" is exported and has no doc comment")
	}
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if !d.Name.IsExported() || d.Doc != nil {
				continue
			}
			if d.Recv == nil {
				missing(d, d.Name.Name)
			} else if isExportedType(d.Recv.List[0].Type) && d.Name.Name != "Error" && d.Name.Name != "String" {
				missing(d, "method "+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
						missing(s, s.Name.Name)
					}
				case *ast.ValueSpec:
					for _, name := range s.Names {
						documented := s.Doc != nil || s.Comment != nil || d.Doc != nil && !d.Lparen.IsValid()
						if name.IsExported() && !documented {
							missing(name, name.Name)
						}
					}
				}
			}
		}
	}
	return wrong
}

// isExportedType reports whether a receiver's type is exported.
func isExportedType(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.StarExpr:
		return isExportedType(e.X)
	case *ast.IndexExpr:
		return isExportedType(e.X)
	case *ast.Ident:
		return e.IsExported()
	}
	return false
}

// Tags cite obligations: P publication, D Dekker, C claim, G generation, W wrap, R retention, L liveness. D1(push) is
// the site push of D1. At that site a comment has a sentence that begins with the name and a colon. After other words,
// as in "Pairs with D1(push): …", the name is of a partner.
var (
	tag  = regexp.MustCompile(`\b([PDCGWRL][1-9][0-9]*)\b(?:\(([^)]*)\))?`)
	site = regexp.MustCompile(`(?:^|\n\n|[.:;*/|]\s+)([PDCGWRL][1-9][0-9]*)\(([^)]*)\):`)
)

// A siteName is a tag and a site of it.
type siteName struct{ tag, site string }

func (n siteName) String() string { return n.tag + "(" + n.site + ")" }

// sitesIn lists the sites that a text describes.
func sitesIn(text string) (sites []siteName) {
	for _, m := range site.FindAllStringSubmatch(text, -1) {
		sites = append(sites, siteName{m[1], m[2]})
	}
	return sites
}

// tags checks the tags cited in one package's comments. protocol is the text of the package's protocol.
func tags(files []*file, protocol string) (wrong []string) {
	sites := make(map[string]map[string]bool)
	for _, f := range files {
		for _, text := range f.comments() {
			for _, s := range sitesIn(text) {
				if sites[s.tag] == nil {
					sites[s.tag] = make(map[string]bool)
				}
				sites[s.tag][s.site] = true
			}
		}
	}
	defined := make(map[string]bool)
	for _, m := range tag.FindAllStringSubmatch(protocol, -1) {
		defined[m[1]] = true
	}
	cited := make(map[string]bool)
	for _, f := range files {
		for _, text := range f.comments() {
			for _, m := range tag.FindAllStringSubmatch(text, -1) {
				cited[m[1]] = true
				if !defined[m[1]] {
					wrong = append(wrong, fmt.Sprintf("%s: %s is not in the protocol", f.path, m[1]))
				}
				if m[2] != "" && !sites[m[1]][m[2]] {
					wrong = append(wrong, fmt.Sprintf("%s: %s has no site: no comment begins %s:", f.path, m[0], m[0]))
				}
			}
		}
	}
	for t := range cited {
		if strings.HasPrefix(t, "D") && len(sites[t]) < 2 {
			wrong = append(wrong, fmt.Sprintf("%s: %s pairs two sites, %d found", files[0].dir(), t, len(sites[t])))
		}
	}
	for t := range defined {
		if !cited[t] {
			wrong = append(wrong, fmt.Sprintf("%s: the protocol speaks of %s, no comment cites it", files[0].dir(), t))
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong)
}

// citation finds tests in a page. The words "package graph's" name their package, until the next semicolon or line.
var citation = regexp.MustCompile("`((?:Test|Fuzz)\\w+)`|package (\\w+)'s|;|\n")

// citations checks the tests cited in the pages of the protocol of dir: they exist, and every model program of the
// packages that the protocol covers is among them. tests are the tests of the module, by folder and name.
func citations(dir string, pages []page, tests map[string]map[string]bool) (wrong []string) {
	folders := make(map[string]string) // by package name
	for folder := range tests {
		folders[path.Base(folder)] = folder
	}
	shown := make(map[string]bool)
	for _, p := range pages {
		whose := p.dir
		for _, m := range citation.FindAllStringSubmatch(p.text, -1) {
			switch name, other := m[1], m[2]; {
			case name == "" && other == "":
				whose = p.dir
			case name == "":
				whose = folders[other]
			case !tests[whose][name]:
				wrong = append(wrong, fmt.Sprintf("%s cites %s, which its package does not have", p.path, name))
			default:
				shown[whose+" "+name] = true
			}
		}
	}
	for folder, names := range tests {
		if protocolOf(folder) != dir {
			continue
		}
		for name := range names {
			if strings.HasPrefix(name, "TestModel") && !shown[folder+" "+name] {
				wrong = append(wrong, fmt.Sprintf("%s: the protocol does not cite %s of package %s: say what it shows",
					dir, name, path.Base(folder)))
			}
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong)
}

// protocolOf returns the folder whose protocol covers dir. For a package in a folder internal it is the folder
// around that one. The executor's covers all layers on it, the notifier's the parkers on which its waiters sleep.
func protocolOf(dir string) string {
	if around, _, ok := strings.Cut(dir, "/internal/"); ok {
		dir = around
	}
	switch {
	case dir == "graph", strings.HasPrefix(dir, "executor/"):
		return "executor"
	case dir == "internal/park":
		return "notifier"
	}
	return dir
}

// tests lists f's tests and fuzz targets.
func (f *file) tests() (names []string) {
	for _, d := range f.ast.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && f.isTest() && d.Recv == nil &&
			(strings.HasPrefix(d.Name.Name, "Test") || strings.HasPrefix(d.Name.Name, "Fuzz")) {
			names = append(names, d.Name.Name)
		}
	}
	return names
}
