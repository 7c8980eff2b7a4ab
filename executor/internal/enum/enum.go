// Package enum names, lists and parses the values of the small enumerations of package executor.
package enum

import "fmt"

// A Kind is a small enumeration, whose values are 0 and up.
type Kind interface{ ~uint8 }

// Name returns the name of k, or "Typ(9)" for a value without one.
func Name[K Kind](k K, typ string, names []string) string {
	if int(k) >= len(names) {
		return fmt.Sprintf("%s(%d)", typ, uint8(k))
	}
	return names[k]
}

// All lists the n values.
func All[K Kind](n K) []K {
	list := make([]K, n)
	for i := range list {
		list[i] = K(i)
	}
	return list
}

// Parse returns the value of that name. what says in the error what there is none of.
func Parse[K Kind](name, what string, names []string) (K, error) {
	for i, n := range names {
		if n == name {
			return K(i), nil
		}
	}
	return 0, fmt.Errorf("executor: no %s %q: use one of %v", what, name, names)
}
