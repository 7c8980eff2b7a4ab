//go:build modelcheck

package left

import "github.com/magpie-go/magpie/internal/model"

func check(ok bool, left int64) {
	model.Assert(ok, "%d units are left: one was counted out before it was counted in, or in after the end", left)
}
