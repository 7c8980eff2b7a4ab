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
			assign, ok := n.(*ast.AssignStmt)
			if !ok || len(assign.Rhs) != 1 {
				return true
			}
			call, ok := ast.Unparen(assign.Rhs[0]).(*ast.CallExpr)
			if !ok {
				return true
			}
			if pkg, name := callee(pass, call); pkg == "iter" && (name == "Pull" || name == "Pull2") {
				for _, left := range assign.Lhs {
					if id, ok := left.(*ast.Ident); ok {
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
						pass.Reportf(id.Pos(), "%s of iter.Pull is used in a task that did not call Pull: tasks run on locked "+
							"threads, and the runtime ends the process when such a function changes threads", id.Name)
					}
				})
			}
			return true
		})
	}, (*ast.File)(nil))
