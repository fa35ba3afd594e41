//go:build race

package cli

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
)

// Under the race detector tests do without pqarrow: to compile it and gRPC once more takes a minute and a half of processor time.
func readParquet(t *testing.T, _ string) arrow.Table {
	t.Skip("reads with Arrow")
	return nil
}

func onePage(t *testing.T, _, _ int) string {
	t.Skip("writes with Arrow")
	return ""
}
