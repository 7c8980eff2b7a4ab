package assembly

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mayObserve has the functions that look for observers. None is on the path of a task of an executor without them.
var mayObserve = []string{
	// They start and stop an executor, and describe it.
	"executor.newChosen", "executor.newNamedInline", "executor.newExecutorOn", "executor.(*executor).attach",
	"executor.(*executor).newWorker",
	"executor.(*executor).end",
	"executor.(*executor).Dump", "executor.(*Executor).drain",
	"executor.(*Executor).heldUp", "executor.Executor.heldUp",
	"executor.(*Executor).inTaskCalls", "executor.Executor.inTaskCalls",
	// They begin and end runs.
	"executor.(*scopeRun).begin", "executor.(*Group).begin", "executor.(*runStore).take",
	"graph.(*Graph).beginLocking", "executor/pipeline.(*Pipeline).Begin", "executor/pool.(*Pool).Begin",
	// They make the frames of children, forks and futures. Those of children and forks are used again.
	"executor.(*Scope).spawn", "executor.(*callPool[]).extend", "executor.(*future).init",
	// They run tasks for observers.
	"executor.execCallObserved[]", "executor.(*child).callObserved",
	"executor.execGroupTaskObserved", "executor.(*JobRun).CallTask",
	"executor.(*observedCall).make", "executor/pool.(*run).call",
	"executor.(*runParts).Observed", "executor.(*runParts).CallTask",
	"executor.(*JobRun).SkipTask", "executor.(*runParts).tellSkip",
	"executor.observedCall.make", "executor.(*scopeRun).observe",
	"graph.execObserved", "graph.execSpecialObserved", "graph.execDynamicObserved",
	"graph.(*runState).runObserved", "graph.(*runState).decideObserved",
	"executor/pipeline.(*run).observe", "executor/pool.(*run).callObserved",
}

// onPath has functions that must be compared: a task, a fork, a child, a future and a function of a group each go
// through some of them.
var onPath = []string{
	"graph.execTask", "graph.execJoin", "graph.execOne", "graph.(*runState).release",
	"executor.execFuture", "executor.execChild", "executor.execGroupTask",
	"executor.runPlain", "executor.(*Worker).pop", "executor.(*Worker).Push",
	"executor.execCall[]", "executor.Fork[]", "executor.Forked[].Join", "internal/user.fib",
}

// TestObserversAreFree: observers cost an executor without them nothing for its tasks. The executor, the packages on
// it, and one that forks have the same instructions, in any order, as with observers cut out of the executor, except
// for the functions of mayObserve.
func TestObserversAreFree(t *testing.T) {
	temp := t.TempDir()
	overlay := withUser(t, temp)
	add := func(target, text string) {
		target, err := filepath.Abs(target)
		require.NoError(t, err)
		overlay[target] = filepath.Join(temp, strings.ReplaceAll(filepath.ToSlash(target), "/", "_"))
		require.NoError(t, os.WriteFile(overlay[target], []byte(text), 0o666))
	}
	var cut []string
	for file, more := range map[string]string{
		"observers": "\ntype noObservers struct{}\n", "observing": "", "observedrun": "",
	} {
		file = "../../executor/" + file + ".go"
		source, functions := cutObservers(t, file)
		add(file, source+more)
		cut = append(cut, functions...)
	}
	require.Contains(t, cut, "executor.(*observers).tellOn")
	require.Contains(t, cut, "executor.(*JobRun).Observed")
	parts, err := os.ReadFile("../../executor/parts_unsafe.go")
	require.NoError(t, err)
	field := regexp.MustCompile(`(?m)^(\tobservers +)\*observers `)
	require.Len(t, field.FindAll(parts, -1), 1)
	add("../../executor/parts_unsafe.go", field.ReplaceAllString(string(parts), "${1}noObservers "))
	without := listing(t, overlayOf(t, temp, overlay), packages...)

	var differ []string
	compared := map[string]bool{}
	for _, pkg := range packages {
		a, b := instructions(asIs(t)[pkg]), instructions(without[pkg])
		for f, code := range a {
			name := typeArgs.ReplaceAllString(f, "[]")
			compared[name] = true
			if !slices.Equal(code, b[f]) {
				differ = append(differ, name)
			}
		}
	}
	for _, f := range onPath {
		require.True(t, compared[f], "%s is not compared: if it was renamed, rename it in onPath", f)
	}
	slices.Sort(differ)
	t.Logf("%d of %d functions differ", len(differ), len(compared))
	found := map[string]bool{}
	differ = slices.DeleteFunc(differ, func(name string) bool {
		for _, f := range slices.Concat(mayObserve, cut) {
			if name == f || strings.HasPrefix(name, f+".") { // the latter are literals in f
				found[f] = true
				return true
			}
		}
		return false
	})
	require.Empty(t, slices.Compact(differ), "these look for observers: put those off a task's path into mayObserve")
	for _, f := range mayObserve {
		require.True(t, found[f], "%s does not look for observers: delete it from mayObserve", f)
	}
}

// cutObservers returns the source of a file with cuts: functions that use observers return zero values. The type
// noObservers takes the place of observers, and is to be empty. So code elsewhere that compares observers with nil, or
// looks at their fields, does not compile. It also returns the names of these functions, as in a listing.
func cutObservers(t *testing.T, file string) (source string, cut []string) {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && usesObservers(f) {
			name := "executor."
			if f.Recv != nil {
				if r, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok {
					name += "(*" + r.X.(*ast.Ident).Name + ")."
				} else {
					name += f.Recv.List[0].Type.(*ast.Ident).Name + "."
				}
			}
			name += f.Name.Name
			if f.Type.TypeParams != nil {
				name += "[]"
			}
			cut = append(cut, name)
			cutBody(f)
		}
	}
	used := map[string]bool{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	imports := parsed.Decls[0].(*ast.GenDecl)
	imports.Specs = slices.DeleteFunc(imports.Specs, func(s ast.Spec) bool {
		return !used[path.Base(strings.Trim(s.(*ast.ImportSpec).Path.Value, `"`))]
	})
	var b strings.Builder
	require.NoError(t, format.Node(&b, files, parsed))
	return b.String(), cut
}

// usesObservers reports whether a function has the type observers or the field of that name somewhere.
func usesObservers(f *ast.FuncDecl) (uses bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		uses = uses || ok && id.Name == "observers"
		return !uses
	})
	return uses
}

// cutBody makes f return zero values, and puts noObservers for *observers in its signature.
func cutBody(f *ast.FuncDecl) {
	f.Body.List = []ast.Stmt{&ast.ReturnStmt{}}
	var fields []*ast.Field
	if f.Recv != nil {
		fields = append(fields, f.Recv.List...)
	}
	if f.Type.Results != nil {
		for _, r := range f.Type.Results.List {
			r.Names = []*ast.Ident{ast.NewIdent("_")}
			fields = append(fields, r)
		}
	}
	for _, field := range fields {
		if p, ok := field.Type.(*ast.StarExpr); ok {
			if id, ok := p.X.(*ast.Ident); ok && id.Name == "observers" {
				field.Type = ast.NewIdent("noObservers")
			}
		}
	}
}
