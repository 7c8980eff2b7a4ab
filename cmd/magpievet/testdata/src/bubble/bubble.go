package bubble

import (
	"testing"
	"testing/synctest"

	"github.com/magpie-go/magpie/executor"
)

func TestNew(t *testing.T) {
	ex, _ := executor.New(executor.Config{}) // outside
	synctest.Test(t, func(t *testing.T) {
		ex, err := executor.New(executor.Config{}) // want `executor.New fails in a bubble of testing/synctest`
		_, _ = ex, err
		_ = executor.NewInline(1)
	})
	synctest.Test(t, named)
	_ = ex
}

func named(*testing.T) {
	_, _ = executor.New(executor.Config{}) // want `executor.New fails in a bubble of testing/synctest`
}
