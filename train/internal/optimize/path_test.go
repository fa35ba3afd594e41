package optimize_test

import (
	"fmt"
	"math"
	"testing"

	"halfspace/internal/require"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
	"halfspace/train/logistic"
)

// TestPath: the penalties and objectives of a path are those that Path finds with a Hessian.
func TestPath(t *testing.T) {
	for _, penalty := range []optimize.Penalty{{}, {L2: 0.5}, {L2: 0.5, NonNegative: true}} {
		for _, bias := range []bool{false, true} {
			d := rows(1500, 40, bias)
			l := logistic.New(logistic.Options{L2: penalty.L2, NoPenalty: penalty.L2 == 0, NonNegative: penalty.NonNegative})
			want := require.Value(l.PathFollower().Path(t.Context(), d, l.Settings, 1, 10, nil))(t)
			got := require.Value(optimize.PathByColumns(task(learner.Options{Epochs: 1000, Run: learner.Run{Workers: 2}}, d, penalty), t.Context(), 10, nil))(t)
			comparePaths(t, fmt.Sprintf("%+v, bias %t", penalty, bias), got, want)
		}
	}
}

func comparePaths(t *testing.T, what string, got, want []*learner.PathMinimum) {
	if len(got) != len(want) || len(got) < 3 {
		t.Fatalf("%s: %d points, want %d", what, len(got), len(want))
	}
	for i, g := range got {
		w := want[i]
		if g.Gap > 1e-6*g.Objective {
			t.Errorf("%s: l1 %v: the gap is %v of %v", what, g.L1, g.Gap, g.Objective)
		}
		if math.Abs(g.L1-w.L1) > 1e-9*w.L1 || math.Abs(g.Objective-w.Objective) > g.Gap+w.Gap+1e-9*w.Objective {
			t.Errorf("%s: objective %v with l1 %v, want %v with %v", what, g.Objective, g.L1, w.Objective, w.L1)
		}
	}
	if got[0].Nonzero(40) != 0 || got[2].Nonzero(40) == 0 {
		t.Errorf("%s: %d, then %d weights aren't 0", what, got[0].Nonzero(40), got[2].Nonzero(40))
	}
}
