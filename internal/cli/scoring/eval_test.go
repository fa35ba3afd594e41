package scoring

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"halfspace/model"
	"halfspace/schema"
)

// TestLoadAll: two models take no more than half of the memory together. One of them alone does.
func TestLoadAll(t *testing.T) {
	const features = 1<<21 + 1 // fewer are loaded whatever the memory is
	spec := &schema.Spec{Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}, Preprocessing: &schema.Preprocessing{Nulls: schema.NullsError,
		Columns: []schema.Column{{Name: "f", Kind: schema.NumberedColumn, First: 1, Elements: features}}}}
	m := model.New(spec, make([]float64, features))
	m.Algorithm = "perceptron"
	path := filepath.Join(t.TempDir(), "m.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	for size, want := range map[string]error{"65MiB": nil, "63MiB": model.ErrMemory} {
		o := evalOptions{models: []string{path, path}}
		if err := o.memory.Set(size); err != nil {
			t.Fatal(err)
		}
		if _, err := loadAll(context.Background(), &o); !errors.Is(err, want) {
			t.Errorf("two models in %s: error %v", size, err)
		}
		o.models = o.models[:1]
		if _, err := loadAll(context.Background(), &o); err != nil {
			t.Errorf("one model in %s: error %v", size, err)
		}
	}
}
