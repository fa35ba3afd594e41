package train

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/model"
)

// A trail is the sums of the weights after each epoch, by class. Trainings of several classes may add to it
// concurrently.
type trail struct {
	mu      sync.Mutex
	byClass map[int][]model.Sum
}

func (t *trail) add(class int, sum model.Sum) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byClass == nil {
		t.byClass = map[int][]model.Sum{}
	}
	t.byClass[class] = append(t.byClass[class], sum)
}

// sums returns the sums in the order of the classes.
func (t *trail) sums() []model.ClassSums {
	all := []model.ClassSums{}
	for class, weights := range t.byClass {
		all = append(all, model.ClassSums{Class: class, Weights: weights})
	}
	slices.SortFunc(all, func(a, b model.ClassSums) int { return cmp.Compare(a.Class, b.Class) })
	return all
}

// state saves or restores the sums of a class.
func (t *trail) state(class int, w *checkpoint.Walk) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byClass == nil {
		t.byClass = map[int][]model.Sum{}
	}
	sums := t.byClass[class]
	checkpoint.List(w, &sums, func(s *model.Sum) { checkpoint.Values(w, s[:]) })
	if len(sums) > 0 {
		t.byClass[class] = sums
	}
}

// SumRows returns the sums of the rows of src for a receipt.
func SumRows(ctx context.Context, src block.Source, workers int) (model.RowSums, error) {
	if _, err := block.SpecOf(src); err != nil {
		return model.RowSums{}, err
	}
	sums, err := block.ChunkSums(ctx, src, workers)
	chunks := make([]model.Sum, len(sums))
	for i, s := range sums {
		chunks[i] = s
	}
	return model.NewRowSums(src.Rows(), block.ChunkRows, chunks), err
}
