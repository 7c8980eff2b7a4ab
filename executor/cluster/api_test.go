package cluster_test

import (
	"testing"

	"github.com/magpie-go/magpie/internal/testkit/api"
)

// TestAPI: what the module exports is what testdata/api says.
func TestAPI(t *testing.T) { api.Check(t, ".") }
