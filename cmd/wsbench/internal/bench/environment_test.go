package bench

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEnvironmentText(t *testing.T) {
	e := someEnvironment()
	e.Hypervisor, e.MemoryTotal = true, 3<<30
	var b strings.Builder
	require.NoError(t, WriteEnvironment(&b, e))
	require.Equal(t, `system               linux/amd64
kernel               6.1
CPU                  Abacus 3000
cores                2
caches               unknown
virtual machine      yes
frequency governor   unknown
load average         unknown
memory               3.0 GiB
memory available     unknown
cgroup memory limit  unknown
cgroup CPU limit     unknown
huge pages           unknown
Go                   go1.26.8
GOMAXPROCS           2
threads sleep on     unknown
commit               unknown
`, b.String())
}
