package main

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

var bubble = newAnalyzer("bubble", "report an executor of New in a bubble of testing/synctest",
	func(pass *analysis.Pass, n ast.Node) {
		call := n.(*ast.CallExpr)
		if pkg, name := callee(pass, call); pkg != "testing/synctest" || name != "Test" || len(call.Args) != 2 {
			return
		}
		if body := bodyOf(pass, call.Args[1]); body != nil {
			ast.Inspect(body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if pkg, name := callee(pass, call); pkg == module+"executor" && name == "New" {
					pass.Reportf(call.Pos(), "executor.New fails in a bubble of testing/synctest, where no time would pass "+
						"while its threads sleep: use executor.NewInline")
				}
				return true
			})
		}
	}, (*ast.CallExpr)(nil))

// bodyOf returns the body of a function literal, or of a function of the package, or nil.
func bodyOf(pass *analysis.Pass, fn ast.Expr) *ast.BlockStmt {
	switch fn := ast.Unparen(fn).(type) {
	case *ast.FuncLit:
		return fn.Body
	case *ast.Ident:
		obj, ok := pass.TypesInfo.Uses[fn].(*types.Func)
		if !ok {
			return nil
		}
		for _, file := range pass.Files {
			for _, d := range file.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && pass.TypesInfo.Defs[d.Name] == obj {
					return d.Body
				}
			}
		}
	}
	return nil
}
