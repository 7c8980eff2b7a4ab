package main

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

const module = "github.com/magpie-go/magpie/"

// runners are the packages whose functions run those that they are given on workers.
var runners = map[string]bool{
	module + "executor":          true,
	module + "executor/parallel": true,
	module + "executor/pipeline": true,
	module + "executor/pool":     true,
	module + "graph":             true,
}

// atOnce are the functions and methods that call their function before they return, on the caller's goroutine.
var atOnce = map[string]bool{"Blocking": true, "Do": true, "Combine": true, "WriteDOTWith": true}

// newAnalyzer returns an analyzer that calls look for each node of the kinds given.
func newAnalyzer(name, doc string, look func(pass *analysis.Pass, n ast.Node), kinds ...ast.Node) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name, Doc: doc, URL: "https://pkg.go.dev/" + module + "cmd/magpievet",
		Requires: []*analysis.Analyzer{inspect.Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Preorder(kinds, func(n ast.Node) { look(pass, n) })
			return nil, nil
		},
	}
}

// callee returns the package and the name of the function or method that is called, without the type of a method.
func callee(pass *analysis.Pass, call *ast.CallExpr) (pkg, name string) {
	fn, ok := typeutil.Callee(pass.TypesInfo, call).(*types.Func)
	if !ok || fn.Pkg() == nil {
		return "", ""
	}
	return fn.Pkg().Path(), fn.Name()
}

// tasks returns the function literals among the arguments of a call that gives functions to an executor, each of which
// may run on another goroutine than the caller's.
func tasks(pass *analysis.Pass, call *ast.CallExpr) (all []*ast.FuncLit) {
	pkg, name := callee(pass, call)
	if !runners[pkg] || atOnce[name] {
		return nil
	}
	for _, arg := range call.Args {
		if lit, ok := ast.Unparen(arg).(*ast.FuncLit); ok {
			all = append(all, lit)
		}
	}
	return all
}

// captured calls found for each use in the literal of a variable that was declared outside. An assignment to it is
// none. Literals inside that are tasks themselves are left out: they are looked at on their own.
func captured(pass *analysis.Pass, lit *ast.FuncLit, found func(id *ast.Ident, v *types.Var)) {
	assigned, left := make(map[ast.Expr]bool), make(map[*ast.FuncLit]bool)
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			for _, inner := range tasks(pass, call) {
				left[inner] = true
			}
		}
		if inner, ok := n.(*ast.FuncLit); ok && left[inner] {
			return false
		}
		if assign, ok := n.(*ast.AssignStmt); ok {
			for _, x := range assign.Lhs {
				assigned[x] = true
			}
		}
		id, ok := n.(*ast.Ident)
		if !ok || assigned[id] {
			return true
		}
		v, ok := pass.TypesInfo.Uses[id].(*types.Var)
		if ok && !v.IsField() && (v.Pos() < lit.Pos() || lit.End() <= v.Pos()) {
			found(id, v)
		}
		return true
	})
}
