package nilcalls

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	gopath "path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root   = "../.."
	module = "github.com/magpie-go/magpie"
)

// goodValues are values for parameters and receivers, by type. Functions, slices and plain values need none.
var goodValues = map[string]string{
	"context.Context":        "soon()", // to end
	"error":                  `errors.New("x")`,
	"io.Writer":              "io.Discard",
	"any":                    "1",
	"*executor.Executor":     "ex",
	"executor.Awaitable":     "done",
	"executor.Job":           "job",
	"executor.Config":        "executor.Config{Workers: 1}",
	"*executor.Run":          "run",
	"*executor.Observer":     "&executor.Observer{}",
	"*executor.Future[int]":  "done",
	"*executor.Group":        "executor.NewGroup(ex)",
	"*executor.Promise[int]": "executor.NewPromise[int](bg, ex)",
	"parallel.Options":       "parallel.Options{Executor: ex}",
	"*graph.Graph":           `graph.New("g")`,
	"graph.Task":             `graph.New("g").Task(func(context.Context) error { return nil })`,
	"*graph.Semaphore":       "graph.NewSemaphore(2)",
	"graph.RetryPolicy":      "graph.RetryPolicy{Tries: 1}",
	"*observe.Switch":        "observe.NewSwitch()",
	"*observe.Times":         "observe.NewTimes()",
	"*httpdebug.Handler":     "httpdebug.New(ex)",
	"time.Duration":          "time.Millisecond",
}

// notTried are types of which the executor makes the values, to pass them to tasks and layers, and types for
// schedulers. A check in their methods would cost each task.
var notTried = []string{
	"executor.Worker", "executor.JobRun", "executor.Body", "executor.Item", "pipeline.Token", "pool.Task", "deque.Deque",
	"deque.Group", "deque.Queue", "notifier.Notifier",
}

// allowed are calls that end in a panic of the runtime.
var allowed = []string{
	"executor.Fork[int, int](*new(*executor.Scope)", // a check would cost each fork
	"new(deque.Near[int]).",                         // and each push and pop: MayPush and MayPop are to be asked first
}

// nilReceivers are the packages of which methods are tried with nil receivers, but for those of errors. In the others a
// nil receiver is a mistake in the line that made the call, where the runtime's panic leads.
var nilReceivers = []string{"executor", "graph"}

// TestNilAndZero calls each exported function and method of the public packages with a nil or zero value in each place
// where there can be one, a receiver included, and good values elsewhere. A call may succeed, return an error or panic
// with a message. It must not end in a panic of the runtime, which says nothing, and it must not hang.
func TestNilAndZero(t *testing.T) {
	packages := publicPackages(t)
	g := newNilProgram(t, packages)
	for _, path := range packages {
		g.addNils(path)
	}
	for _, path := range packages {
		g.addPackage(path)
	}
	require.Contains(t, strings.Join(g.cases, ""), "ex.Run(soon(), (*pool.Pool)(nil))", "nil jobs were not found")
	require.Greater(t, len(g.cases), 300, "the API was not found")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	abs, err := filepath.Abs(root)
	require.NoError(t, err)
	main := write("main.go", g.source())
	overlay := write("overlay.json", fmt.Sprintf(`{"Replace":{%q:%q}}`,
		filepath.Join(abs, "internal", "nilcalls", "program", "main.go"), main))
	cmd := exec.CommandContext(t.Context(), "go", "run", "-overlay", overlay, "./internal/nilcalls/program")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), fmt.Sprintf("%d calls\n", len(g.cases)), "%s", out)
	var wrong []string
	for line := range strings.Lines(string(out)) {
		bad, is := strings.CutPrefix(line, "BAD ")
		begins := func(call string) bool { return strings.HasPrefix(bad, call) }
		if is && !slices.ContainsFunc(allowed, begins) {
			wrong = append(wrong, strings.TrimSpace(bad))
		}
	}
	require.Empty(t, wrong, "\n%s", strings.Join(wrong, "\n"))
}

// publicPackages returns the paths of the module's packages, without commands and internal ones.
func publicPackages(t *testing.T) (paths []string) {
	list := exec.CommandContext(t.Context(), "go", "list", "-f", `{{if ne .Name "main"}}{{.ImportPath}}{{end}}`, "./...")
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	paths = slices.DeleteFunc(strings.Fields(string(out)), func(path string) bool {
		return strings.Contains(path+"/", "/internal/")
	})
	require.Contains(t, paths, module+"/executor/parallel", "the packages were not found")
	return paths
}

// A nilProgram is a program that makes calls.
type nilProgram struct {
	t        *testing.T
	importer types.Importer
	imports  map[string]bool // paths of packages that calls name
	cases    []string
	nils     []types.Type // pointers to the exported types
}

func newNilProgram(t *testing.T, packages []string) *nilProgram {
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}
	cmd := exec.CommandContext(t.Context(), "go", append(args, packages...)...)
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	exports := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	return &nilProgram{
		t: t, importer: importer.ForCompiler(token.NewFileSet(), "gc", lookup), imports: make(map[string]bool),
	}
}

// addNils notes the types of a package, for nil values of these in interfaces.
func (g *nilProgram) addNils(path string) {
	pkg, err := g.importer.Import(path)
	require.NoError(g.t, err)
	for _, name := range pkg.Scope().Names() {
		object, is := pkg.Scope().Lookup(name).(*types.TypeName)
		if !is || !token.IsExported(name) {
			continue
		}
		named, is := object.Type().(*types.Named)
		if is && !types.IsInterface(named) && !slices.Contains(notTried, object.Pkg().Name()+"."+name) {
			g.nils = append(g.nils, types.NewPointer(g.instance(named)))
		}
	}
}

func (g *nilProgram) addPackage(path string) {
	pkg, err := g.importer.Import(path)
	require.NoError(g.t, err)
	for _, name := range pkg.Scope().Names() {
		if !token.IsExported(name) {
			continue
		}
		switch object := pkg.Scope().Lookup(name).(type) {
		case *types.Func:
			signature := object.Type().(*types.Signature)
			function := g.name(object.Pkg()) + "." + name
			if n := signature.TypeParams().Len(); n > 0 {
				function += "[" + strings.Repeat("int, ", n-1) + "int]"
			}
			g.addCalls(function, g.instance(signature).(*types.Signature))
		case *types.TypeName:
			g.addMethods(object)
		}
	}
}

// instance instantiates a generic type with int for each parameter.
func (g *nilProgram) instance(t types.Type) types.Type {
	var params *types.TypeParamList
	switch t := t.(type) {
	case *types.Signature:
		params = t.TypeParams()
	case *types.Named:
		params = t.TypeParams()
	}
	if params.Len() == 0 {
		return t
	}
	args := make([]types.Type, params.Len())
	for i := range args {
		args[i] = types.Typ[types.Int]
	}
	made, err := types.Instantiate(nil, t, args, true)
	require.NoError(g.t, err)
	return made
}

func (g *nilProgram) addMethods(object *types.TypeName) {
	named, is := object.Type().(*types.Named)
	if !is || types.IsInterface(named) || slices.Contains(notTried, object.Pkg().Name()+"."+object.Name()) {
		return
	}
	made := g.instance(named)
	all := types.NewMethodSet(types.NewPointer(made))
	for i := range all.Len() {
		method := all.At(i).Obj().(*types.Func)
		if !method.Exported() {
			continue
		}
		signature := all.At(i).Type().(*types.Signature)
		text := g.text(made)
		name := "." + method.Name()
		onPointer := types.NewMethodSet(made).Lookup(method.Pkg(), method.Name()) == nil
		g.addCall("new("+text+")"+name, g.good(signature, -1))
		if onPointer {
			if slices.Contains(nilReceivers, object.Pkg().Name()) && all.Lookup(nil, "Error") == nil {
				g.addCall("(*"+text+")(nil)"+name, g.good(signature, -1))
			}
			text = "*" + text
		}
		if value, known := goodValues[text]; known {
			g.addCalls(value+name, signature)
		}
	}
}

// good returns good arguments, with a nil or zero value for parameter zero. It returns nil if it knows no good value of
// another.
func (g *nilProgram) good(s *types.Signature, zero int) []string {
	args := make([]string, s.Params().Len())
	for i := range args {
		if i == zero {
			t := s.Params().At(i).Type()
			if s.Variadic() && i == len(args)-1 {
				t = t.(*types.Slice).Elem()
			}
			args[i] = "*new(" + g.text(t) + ")"
			continue
		}
		value, ok := g.value(s.Params().At(i).Type())
		if !ok {
			return nil
		}
		if s.Variadic() && i == len(args)-1 {
			value += "..."
		}
		args[i] = value
	}
	return args
}

// addCalls adds a call for each parameter, which is nil or zero in it, and calls with nil pointers in an interface.
func (g *nilProgram) addCalls(function string, s *types.Signature) {
	for i := range s.Params().Len() {
		args := g.good(s, i)
		g.addCall(function, args)
		if args == nil {
			continue
		}
		t := s.Params().At(i).Type()
		if s.Variadic() && i == len(args)-1 {
			t = t.(*types.Slice).Elem()
		}
		for _, args[i] = range g.nilsIn(t) {
			g.addCall(function, args)
		}
	}
}

// nilsIn returns nil pointers to the types that implement t, if t is an interface of the module.
func (g *nilProgram) nilsIn(t types.Type) (texts []string) {
	named, is := t.(*types.Named)
	if !is || !types.IsInterface(t) || named.Obj().Pkg() == nil || // that of error is nil
		!strings.HasPrefix(named.Obj().Pkg().Path(), module) {
		return nil
	}
	for _, pointer := range g.nils {
		if types.Implements(pointer, t.Underlying().(*types.Interface)) {
			texts = append(texts, "("+g.text(pointer)+")(nil)")
		}
	}
	return texts
}

func (g *nilProgram) addCall(function string, args []string) {
	if args == nil {
		return
	}
	call := function + "(" + strings.Join(args, ", ") + ")"
	g.cases = append(g.cases, fmt.Sprintf("\ttry(%q, func() { %s })\n", call, call))
}

func (g *nilProgram) name(pkg *types.Package) string {
	g.imports[pkg.Path()] = true
	return pkg.Name()
}

func (g *nilProgram) text(t types.Type) string { return types.TypeString(t, g.name) }

// value returns an expression for a good value of the type.
func (g *nilProgram) value(t types.Type) (text string, ok bool) {
	if value, known := goodValues[types.TypeString(t, (*types.Package).Name)]; known {
		return value, true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch info := u.Info(); {
		case info&types.IsNumeric != 0:
			return g.text(t) + "(1)", true
		case info&types.IsString != 0:
			return g.text(t) + `("x")`, true
		}
		return g.text(t) + "(true)", true
	case *types.Signature:
		if t == types.Type(u) {
			return g.function(u), true
		}
		return g.text(t) + "(" + g.function(u) + ")", true
	case *types.Slice:
		elem, ok := g.value(u.Elem())
		return g.text(t) + "{" + elem + ", " + elem + "}", ok
	case *types.Map, *types.Struct:
		return g.text(t) + "{}", true
	case *types.Chan:
		return "make(" + g.text(t) + ", 1)", true
	}
	return "", false
}

// function returns a function that does nothing and returns zero values.
func (g *nilProgram) function(s *types.Signature) string {
	tuple := func(v *types.Tuple, name string) string {
		var all []string
		for i := range v.Len() {
			text := g.text(v.At(i).Type())
			if s.Variadic() && name == "a" && i == v.Len()-1 {
				text = "..." + strings.TrimPrefix(text, "[]")
			}
			all = append(all, fmt.Sprintf("%s%d %s", name, i, text))
		}
		return "(" + strings.Join(all, ", ") + ")"
	}
	return "func" + tuple(s.Params(), "a") + " " + tuple(s.Results(), "r") + " { return }"
}

func (g *nilProgram) source() string {
	needed := []string{"context", "errors", "fmt", "io", "runtime", "time"}
	for _, name := range []string{"executor", "executor/parallel", "graph", "executor/observe", "executor/httpdebug"} {
		needed = append(needed, module+"/"+name)
	}
	for _, path := range needed {
		g.imports[path] = true
	}
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	calls := strings.Join(g.cases, "")
	for _, path := range slices.Sorted(maps.Keys(g.imports)) {
		if standing := slices.Contains(needed, path); standing || strings.Contains(calls, gopath.Base(path)+".") {
			fmt.Fprintf(&b, "\t%q\n", path)
		}
	}
	b.WriteString(`)

var (
	_ = io.Discard
	_ = errors.New
	_ = parallel.Options{}
	_ = graph.New
	_ = observe.NewSwitch
	_ = httpdebug.New
)

func main() {
	bg := context.Background()
	soon := func() context.Context {
		ctx, cancel := context.WithCancel(bg)
		time.AfterFunc(2*time.Millisecond, cancel)
		return ctx
	}
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		panic(err)
	}
	job := executor.NewJob("f", func(*executor.Scope) error { return nil })
	run := ex.Start(bg, job)
	done := executor.Async(bg, ex, func(context.Context) (int, error) { return 0, nil })
	calls := 0
	try := func(name string, call func()) {
		calls++
		over := make(chan any, 1)
		go func() {
			defer func() { over <- recover() }()
			call()
		}()
		select {
		case v := <-over:
			if err, is := v.(runtime.Error); is {
				fmt.Println("BAD", name, "panics:", err)
			}
		case <-time.After(time.Minute):
			fmt.Println("BAD", name, "hangs")
		}
	}
`)
	b.WriteString(calls)
	b.WriteString("\tfmt.Printf(\"%d calls\\n\", calls)\n}\n")
	return b.String()
}
