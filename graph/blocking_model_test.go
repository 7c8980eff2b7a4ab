//go:build modelcheck

package graph

import (
	"testing"

	"github.com/magpie-go/magpie/executor"
)

// TestModelBlockingEndsAlone: the only worker gets a spare in the middle of a run. So far it has counted down and
// claimed without locked instructions; from then on the two do so together.
func TestModelBlockingEndsAlone(t *testing.T) {
	for _, c := range []struct {
		name string
		net  func() *net
	}{
		{"join", diamond},
		{"span", func() *net { return fan(minSpan + 1) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			onExecutors(t, []int{1}, func(ex *executor.Executor) {
				n := c.net()
				m := meeting{n: 2}
				p, err := n.once(ex, func(task int) error {
					if task == 1 || task == 2 {
						executor.Blocking(m.meet)
					}
					return nil
				})
				p.ended(err)
				n.again(ex)
			})
		})
	}
}
