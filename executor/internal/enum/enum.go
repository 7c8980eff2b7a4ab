// Package enum names the values of small enumerations, and finds them by name.
package enum

import (
	"cmp"
	"fmt"
	"slices"
)

// A Kind is a small enumeration, whose values are 0 and up.
type Kind interface{ ~uint8 }

// Name returns the name of k, or "Typ(9)" for a value without one.
func Name[K Kind](k K, typ string, names []string) string {
	if int(k) >= len(names) {
		return fmt.Sprintf("%s(%d)", typ, uint8(k))
	}
	return names[k]
}

// Text returns the name of k, of a type of package pkg, as MarshalText does, or an error if it has none.
func Text[K Kind](k K, pkg, typ string, names []string) ([]byte, error) {
	if int(k) >= len(names) {
		return nil, fmt.Errorf("%s: %s is %d: use one of %v", pkg, typ, uint8(k), names)
	}
	return []byte(names[k]), nil
}

// SetText sets k to the value of that name as UnmarshalText does. "" is the first.
func SetText[K Kind](k *K, pkg, typ string, name []byte, names []string) error {
	i, err := Find(typ, string(name), names)
	if err != nil {
		return fmt.Errorf("%s: %w", pkg, err)
	}
	*k = K(i)
	return nil
}

// Find returns the index of the name, or 0 if it is "". The error begins with what, the name of a field or a type.
func Find(what, name string, names []string) (int, error) {
	i := slices.Index(names, cmp.Or(name, names[0]))
	if i < 0 {
		return 0, fmt.Errorf("%s is %q: use one of %v", what, name, names)
	}
	return i, nil
}
