package main

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// A pull is found by the names that the results of iter.Pull and Pull2 are given.
var pulls = newAnalyzer("pulls", "report a function of iter.Pull that a task calls which did not call Pull",
	func(pass *analysis.Pass, n ast.Node) {
		file := n.(*ast.File)
		pulled := make(map[types.Object]bool)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if len(n.Rhs) == 1 && isPull(pass, n.Rhs[0]) {
					for _, left := range n.Lhs {
						if id, ok := left.(*ast.Ident); ok {
							pulled[pass.TypesInfo.ObjectOf(id)] = true
						}
					}
				}
			case *ast.ValueSpec:
				if len(n.Values) == 1 && isPull(pass, n.Values[0]) {
					for _, id := range n.Names {
						pulled[pass.TypesInfo.ObjectOf(id)] = true
					}
				}
			}
			return true
		})
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for _, lit := range tasks(pass, call) {
				captured(pass, lit, func(id *ast.Ident, v *types.Var) {
					if pulled[v] {
						pass.Reportf(id.Pos(), "%s of iter.Pull is used in a task that did not call Pull: tasks run "+
							"on locked threads, and the runtime ends the process when it changes threads", id.Name)
					}
				})
			}
			return true
		})
	}, (*ast.File)(nil))

// isPull reports whether x is a call of iter.Pull or Pull2.
func isPull(pass *analysis.Pass, x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	pkg, name := callee(pass, call)
	return pkg == "iter" && (name == "Pull" || name == "Pull2")
}
