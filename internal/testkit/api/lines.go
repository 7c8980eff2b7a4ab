package api

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"path"
	"slices"
	"strings"
)

// lines returns a line for each name that pkg exports, and for each exported field and method. A change that may break
// a program that uses the name changes a line, in most cases, and one that breaks none adds lines at most. Names of
// parameters are left out.
func lines(pkg *types.Package) (all []string) {
	l := &lister{pkg: pkg}
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		if object := scope.Lookup(name); object.Exported() {
			l.object(object)
		}
	}
	slices.Sort(l.lines)
	return slices.Compact(l.lines)
}

type lister struct {
	pkg   *types.Package
	lines []string
}

func (l *lister) add(format string, args ...any) {
	l.lines = append(l.lines, "package "+l.pkg.Path()+": "+fmt.Sprintf(format, args...))
}

func (l *lister) object(object types.Object) {
	name := object.Name()
	switch o := object.(type) {
	case *types.Const:
		l.add("const %s %s = %s", name, l.text(o.Type()), o.Val().ExactString())
	case *types.Var:
		l.add("var %s %s", name, l.text(o.Type()))
	case *types.Func:
		l.add("func %s%s", name, l.signature(o.Signature()))
	case *types.TypeName:
		l.typeName(o)
	}
}

func (l *lister) typeName(o *types.TypeName) {
	if alias, ok := o.Type().(*types.Alias); ok {
		l.add("type %s = %s", o.Name(), l.text(alias.Rhs()))
		return
	}
	named := o.Type().(*types.Named)
	name := o.Name()
	head := name + l.parameters(named.TypeParams())
	switch under := named.Underlying().(type) {
	case *types.Struct:
		l.add("type %s struct", head)
		if isPlain(under) && types.Comparable(named) {
			l.add("type %s struct, comparable", name)
		}
		l.fields(name, under)
	case *types.Interface:
		l.interfaceOf(name, head, under)
		return // the methods are those of the interface
	default:
		l.add("type %s %s", head, l.text(under))
	}
	own := types.NewMethodSet(named)
	for m := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		fn := m.Obj().(*types.Func)
		if !fn.Exported() {
			continue
		}
		receiver := "*" + name
		if own.Lookup(fn.Pkg(), fn.Name()) != nil {
			receiver = name
		}
		l.add("method (%s) %s%s", receiver, fn.Name(), l.signature(m.Type().(*types.Signature)))
	}
}

// fields lists the exported fields, those of embedded structs whose own name is not exported included.
func (l *lister) fields(name string, s *types.Struct) {
	for f := range s.Fields() {
		if f.Exported() {
			embedded := ""
			if f.Embedded() {
				embedded = "embedded "
			}
			l.add("type %s struct, %s%s %s", name, embedded, f.Name(), l.text(f.Type()))
		} else if inner, ok := f.Type().Underlying().(*types.Struct); ok && f.Embedded() {
			l.fields(name, inner)
		}
	}
}

// isPlain reports whether s is a value that programs see all of: they may compare it, or use it as the key of a map.
func isPlain(s *types.Struct) bool {
	for f := range s.Fields() {
		if !f.Exported() || f.Embedded() {
			return false
		}
	}
	return s.NumFields() > 0
}

// interfaceOf lists an interface. Its first line names all methods, since one more breaks what implements it, unless no
// other package can.
func (l *lister) interfaceOf(name, head string, i *types.Interface) {
	var methods []string
	hidden := false
	for m := range i.Methods() {
		if !m.Exported() {
			hidden = true
			continue
		}
		methods = append(methods, m.Name())
		l.add("type %s interface, %s%s", name, m.Name(), l.signature(m.Signature()))
	}
	switch {
	case hidden:
		l.add("type %s interface, for this module only", head)
	case i.IsMethodSet():
		l.add("type %s interface { %s }", head, strings.Join(methods, ", "))
	default:
		l.add("type %s %s", head, l.text(i))
	}
}

func (l *lister) parameters(list *types.TypeParamList) string {
	var all []string
	for p := range list.TypeParams() {
		all = append(all, p.Obj().Name()+" "+l.text(p.Constraint()))
	}
	if all == nil {
		return ""
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// signature returns the text of a signature from its type parameters on.
func (l *lister) signature(s *types.Signature) string {
	plain := types.NewSignatureType(nil, nil, nil, unnamed(s.Params()), unnamed(s.Results()), s.Variadic())
	return l.parameters(s.TypeParams()) + strings.TrimPrefix(l.text(plain), "func")
}

// unnamed returns the tuple without names. Compilers give blank ones names that do not parse.
func unnamed(t *types.Tuple) *types.Tuple {
	var all []*types.Var
	for v := range t.Variables() {
		all = append(all, types.NewParam(v.Pos(), v.Pkg(), "", v.Type()))
	}
	return types.NewTuple(all...)
}

// text returns the text of a type, without the names of parameters. Types of other packages have the last part of the
// package's path.
func (l *lister) text(t types.Type) string {
	text := types.TypeString(t, func(other *types.Package) string {
		if other == l.pkg {
			return ""
		}
		return path.Base(other.Path())
	})
	expr, err := parser.ParseExpr(text)
	if err != nil {
		return text // a constraint that is a union, for instance
	}
	ast.Inspect(expr, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncType); ok {
			for _, list := range []*ast.FieldList{f.Params, f.Results} {
				if list == nil {
					continue
				}
				for _, field := range list.List {
					field.Names = nil
				}
			}
		}
		return true
	})
	return types.ExprString(expr)
}
