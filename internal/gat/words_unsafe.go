package gat

import "unsafe"

// size is that of the table in bytes, and holderOffset the place of its field holder.
const (
	size         = int(unsafe.Sizeof(table{}))
	holderOffset = int64(unsafe.Offsetof(table{}.holder))
)

// tableAt returns the table at the start of a mapping, which begins a page. Package xatomic's types are as large as the
// words that they hold, also under its build tags.
func tableAt(mapping []byte) *table {
	return (*table)(unsafe.Pointer(unsafe.SliceData(mapping[:size])))
}

// spans reports whether address is inside the mapping.
func spans(mapping []byte, address uintptr) bool {
	return address-uintptr(unsafe.Pointer(unsafe.SliceData(mapping))) < uintptr(len(mapping))
}
