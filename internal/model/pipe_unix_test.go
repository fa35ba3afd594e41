//go:build unix

package model

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"halfspace/internal/require"
	"halfspace/schema"
)

// TestTooLargeForPipe: a model that is too large is an error before the pipe is opened, which would wait for a reader.
func TestTooLargeForPipe(t *testing.T) {
	const names, bytes = 2_100, 130_000
	spec := &schema.Spec{Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}}
	for all := strings.Repeat("x", names+bytes); len(spec.Features) < names; {
		spec.Features = append(spec.Features, all[:bytes+len(spec.Features)])
	}
	m := New(spec, make([]float32, names))
	m.Algorithm = "perceptron"
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := m.SaveContext(ctx, path); err == nil || !strings.Contains(err.Error(), "makes a file of more than 256 MiB") {
		t.Errorf("error %v", err)
	}
}
