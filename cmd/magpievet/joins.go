package main

import (
	"go/ast"

	"golang.org/x/tools/go/analysis"
)

var joins = newAnalyzer("joins", "report a Fork whose result nobody can join",
	func(pass *analysis.Pass, n ast.Node) {
		switch n := n.(type) {
		case *ast.ExprStmt:
			reportFork(pass, n.X)
		case *ast.GoStmt:
			reportFork(pass, n.Call)
		case *ast.DeferStmt:
			reportFork(pass, n.Call)
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if id, ok := left.(*ast.Ident); ok && id.Name == "_" && len(n.Lhs) == len(n.Rhs) {
					reportFork(pass, n.Rhs[i])
				}
			}
		}
	}, (*ast.ExprStmt)(nil), (*ast.GoStmt)(nil), (*ast.DeferStmt)(nil), (*ast.AssignStmt)(nil))

func reportFork(pass *analysis.Pass, x ast.Expr) {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return
	}
	if pkg, name := callee(pass, call); pkg == module+"executor" && name == "Fork" {
		pass.Reportf(call.Pos(),
			"nobody joins this Fork, so its result is lost: join it, or use Scope.Go or Scope.Spawn")
	}
}
