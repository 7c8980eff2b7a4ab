package main

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

var scopes = newAnalyzer("scopes", "report a Scope that is used in a function which runs elsewhere",
	func(pass *analysis.Pass, n ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			for _, lit := range tasks(pass, n) {
				reportScopes(pass, lit)
			}
		case *ast.GoStmt:
			if lit, ok := ast.Unparen(n.Call.Fun).(*ast.FuncLit); ok {
				reportScopes(pass, lit)
			}
			for _, arg := range n.Call.Args {
				if t := pass.TypesInfo.TypeOf(arg); t != nil && isScope(t) {
					pass.Reportf(arg.Pos(),
						"a Scope is given to another goroutine: only the function that has it may use it")
				}
			}
		}
	}, (*ast.CallExpr)(nil), (*ast.GoStmt)(nil))

func reportScopes(pass *analysis.Pass, lit *ast.FuncLit) {
	captured(pass, lit, func(id *ast.Ident, v *types.Var) {
		if isScope(v.Type()) {
			pass.Reportf(id.Pos(), "Scope %s belongs to the function around this one, which runs elsewhere: "+
				"use the Scope that this function is given, or give the function to Spawn, Fork or Call", id.Name)
		}
	})
}

func isScope(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	named, ok := types.Unalias(p.Elem()).(*types.Named)
	return ok && named.Obj().Name() == "Scope" && named.Obj().Pkg() != nil &&
		named.Obj().Pkg().Path() == module+"executor"
}
