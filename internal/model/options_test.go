package model

import (
	"encoding/json"
	"testing"

	"halfspace/internal/require"
)

// TestOptionsByName: options are set and found by the names that users type, those without a key of their own too, and survive the file.
func TestOptionsByName(t *testing.T) {
	var o Options
	for name, value := range map[string]any{"max-updates": int64(7), "eta": 0.5, "l2": 0.0, "loss": "hinge", "shrink-by": 0.25} {
		o.Set(name, value)
	}
	text, err := json.Marshal(&o)
	require.NoError(t, err)
	const want = `{"max_updates":7,"eta":0.5,"l2":0,"loss":"hinge","others":{"shrink-by":0.25}}`
	if string(text) != want {
		t.Errorf("%s, want %s", text, want)
	}
	var back Options
	require.NoError(t, json.Unmarshal(text, &back))
	for name, value := range map[string]any{"max-updates": int64(7), "eta": 0.5, "l2": 0.0, "loss": "hinge", "shrink-by": 0.25, "margin": nil, "none": nil} {
		if got := back.Get(name); got != value {
			t.Errorf("%s is %v, want %v", name, got, value)
		}
	}
}
