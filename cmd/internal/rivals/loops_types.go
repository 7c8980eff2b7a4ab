package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
)

// checkings has packages as units.
func checkings(packages int) func() loopWork {
	sources := make([]string, packages)
	for i, x := range random(packages, func(x uint64) uint64 { return x }) {
		sources[i] = packageSource(x)
	}
	return valued(packages, func(i int) uint64 { return checkPackage(sources[i]) })
}

// packageSource returns the text of a package without imports. It depends on x.
func packageSource(x uint64) string {
	return fmt.Sprintf(`package p%[1]d

type item%[1]d struct {
	id, weight int
	next *item%[1]d
}

type list[T any] struct{ all []T }

func (l *list[T]) add(x T) { l.all = append(l.all, x) }

func (i *item%[1]d) total() (sum int) {
	for ; i != nil; i = i.next {
		sum += i.weight * %[2]d
	}
	return sum
}

func heavy(items []*item%[1]d) *list[string] {
	l := new(list[string])
	for _, i := range items {
		if i.total() > %[3]d {
			l.add("heavy")
		}
	}
	return l
}
`, x%1000, x>>10%50+1, x>>20%1000)
}

// checkPackage returns a digest of the types of a package, or 0 if it is wrong.
func checkPackage(source string) uint64 {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		return 0
	}
	info := types.Info{Types: make(map[ast.Expr]types.TypeAndValue), Defs: make(map[*ast.Ident]types.Object)}
	p, err := new(types.Config).Check("p", files, []*ast.File{f}, &info)
	if err != nil {
		return 0
	}
	sum := uint64(len(info.Types)*1000 + len(info.Defs))
	for _, name := range p.Scope().Names() {
		sum = sum*31 + digestBytes([]byte(p.Scope().Lookup(name).String()))
	}
	return sum
}
