package optimize

import (
	"context"
	"math"
	"slices"
)

// Path returns the minima for up to count falling penalties l1, or for the given penalties. It chooses penalties and
// stops as Task.Path does. The search for each penalty begins at the minimum for the penalty before. A step
// leaves out columns whose weight is 0 and whose gradient shows that the weight stays 0. After the step, the gradient
// of all columns confirms or corrects that choice.
func (n *Net) Path(ctx context.Context, count int, penalties []float64) ([]*Stage, error) {
	one := *n
	one.Epochs, one.Checkpoint = math.MaxInt64, nil
	s := newNet(&one)
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	alone, given := s.loss, penalties != nil
	if !given {
		penalties = s.Ladder(s.gradient[:s.features], s.Rows.Rows(), count)
	}
	var stages []*Stage
	for _, l1 := range penalties {
		one.L1, one.Epochs, s.lower = l1, s.passes+min(n.Epochs, math.MaxInt64-s.passes), math.Inf(-1)
		s.first()
		s.prove()
		if err := s.minimise(ctx); err != nil {
			return nil, err
		}
		stages = append(stages, &Stage{Penalty: s.Penalty, W: slices.Clone(s.w), Loss: s.loss, Objective: s.objective(), Gap: max(0, s.objective()-s.lower), Passes: s.passes})
		if !given && Explained(s.loss, alone) {
			break
		}
	}
	return stages, nil
}
