package lint

import (
	"testing"

	"github.com/magpie-go/magpie/internal/testkit/api"
)

// TestAPI: what the packages of the module export is what testdata/api says.
func TestAPI(t *testing.T) { api.Check(t, root) }
