//go:build modelcheck

package park

import (
	"unsafe"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// Kind names how threads sleep in this build.
const Kind = "model"

// sleeper is the futex of package model. Outside an exploration sleep returns at once, and the caller looks again.
type sleeper struct{}

// Spurious says whether waits that end for no reason are explored.
var Spurious = false

func (sleeper) sleep(word *xatomic.Uint32, while uint32) {
	if model.Active() {
		model.FutexWait(unsafe.Pointer(word), func() bool { return word.Peek() == while }, Spurious)
	}
}

func (sleeper) wake(word *xatomic.Uint32) {
	if model.Active() {
		model.FutexWake(unsafe.Pointer(word))
	}
}
