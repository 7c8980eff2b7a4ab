package executor_test

import (
	"reflect"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

// TestWorkerFields: what a worker has stands in the types of the files that use it, not in the worker.
func TestWorkerFields(t *testing.T) {
	fields := 0
	worker := reflect.TypeFor[executor.Worker]()
	for i := range worker.NumField() {
		if worker.Field(i).Name != "_" {
			fields++
		}
	}
	require.LessOrEqual(t, fields, 30)
}
