//go:build modelcheck

package xatomic

import (
	"unsafe"

	"github.com/magpie-go/magpie/internal/model"
)

const (
	load   = model.Load
	store  = model.Store
	update = model.Update
)

func before(k model.Kind, p unsafe.Pointer) { model.Point(k, p) }
func after(k model.Kind, p unsafe.Pointer)  { model.Done(k, p) }
func read(p unsafe.Pointer)                 { model.Read(p) }
func write(p unsafe.Pointer)                { model.Write(p) }
