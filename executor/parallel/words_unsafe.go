package parallel

import (
	"context"
	"reflect"
	"unsafe"
)

// sortByRadix sorts s by radix if its elements are numbers or strings, and else returns false.
func sortByRadix[T any](ctx context.Context, o Options, s []T) (sorted bool, err error) {
	signed, floats := false, false
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		signed = true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
	case reflect.Float32, reflect.Float64:
		signed, floats = true, true
	case reflect.String:
		if len(s) <= textLeast {
			return false, nil
		}
		return true, sortTexts(ctx, o, unsafe.Slice((*string)(unsafe.Pointer(unsafe.SliceData(s))), len(s)))
	default:
		return false, nil
	}
	switch unsafe.Sizeof(*new(T)) {
	case 1:
		err = sortWords(ctx, o, wordsOf[uint8](s), codingOf[uint8](signed, floats), floats, &scratch8)
	case 2:
		err = sortWords(ctx, o, wordsOf[uint16](s), codingOf[uint16](signed, floats), floats, &scratch16)
	case 4:
		err = sortWords(ctx, o, wordsOf[uint32](s), codingOf[uint32](signed, floats), floats, &scratch32)
	default:
		err = sortWords(ctx, o, wordsOf[uint64](s), codingOf[uint64](signed, floats), floats, &scratch64)
	}
	return true, err
}

// wordsOf returns the words of numbers of type T, which have the size of K.
func wordsOf[K word, T any](s []T) []K {
	return unsafe.Slice((*K)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

func codingOf[K word](signed, floats bool) coding[K] {
	c := coding[K]{top: uint(unsafe.Sizeof(K(0)))*8 - 1}
	if signed {
		c.sign = 1 << c.top
	}
	if floats {
		c.rest = c.sign - 1
	}
	return c
}
