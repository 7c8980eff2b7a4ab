package experiment

import (
	"fmt"

	"github.com/magpie-go/magpie/executor/internal/enum"
	"github.com/magpie-go/magpie/executor/internal/policy"
	"github.com/magpie-go/magpie/internal/peer"
)

// needs are the features of the system that a policy may need.
var needs = []struct {
	need    policy.Need
	feature peer.Feature
}{
	{policy.NeedSameCPU, peer.SameCPU},
	{policy.NeedStoppedClock, peer.Clock},
	{policy.NeedPull, peer.Pull},
}

// Available returns nil if this system has what the policy of that name needs, and otherwise an error that says what is
// missing and wraps [errors.ErrUnsupported]. New returns that error too. Only "bws-same", "bws-clock" and "bws-pull"
// need something.
func Available(name string) error {
	i, err := enum.Find("Policy", name, Policies())
	if err != nil {
		return fmt.Errorf("executor: %w", err)
	}
	for _, n := range needs {
		if policy.Table[i].Needs&n.need == 0 {
			continue
		}
		if err := peer.Has(n.feature); err != nil {
			return fmt.Errorf("executor: policy %s does not work here, use %s in its place: %w",
				name, policy.Table[policy.MBWSRole].Name, err)
		}
	}
	return nil
}
