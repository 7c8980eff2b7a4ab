//go:build magpie_chaos && !modelcheck

package history

import "github.com/magpie-go/magpie/internal/xatomic"

// Under the tag magpie_chaos threads dawdle in the middle of calls while a crew exists. So calls overlap on any
// machine, and in all ways.
func dawdle(on bool) {
	if on {
		xatomic.Dawdle(8)
	} else {
		xatomic.Dawdle(0)
	}
}
