package bench

import (
	"testing"

	"github.com/magpie-go/magpie/internal/peer"
	"github.com/magpie-go/magpie/internal/testkit"
)

// TestMain makes room for the policies that need rseq.
func TestMain(m *testing.M) {
	testkit.FreeRSEQ(peer.Has(peer.SameCPU))
	m.Run()
}
