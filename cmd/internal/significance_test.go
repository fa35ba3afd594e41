package cli

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/humanize"
)

// beyond integrates the normal density outside of -z to z, by midpoints.
func beyond(z float64) float64 {
	sum, h := 0.0, z/100_000
	for i := range 100_000 {
		sum += math.Exp(-math.Pow((float64(i)+0.5)*h, 2) / 2)
	}
	return 1 - 2*sum*h/math.Sqrt(2*math.Pi)
}

// TestSignificance: inspect tells p-values and intervals of 95 % beside z, for the weights and the bias.
func TestSignificance(t *testing.T) {
	inParallel(t)
	dir := text(t, map[string]string{"x.csv": weightyText(300)})
	path := filepath.Join(dir, "m.json")
	succeed(t, "train", filepath.Join(dir, "x.csv"), "--label", "y", "--features", "x0,x1", "--algo", "logistic", "--l2", "0", "--out", path)
	m, r, shown := loadedModel(t, path), decode(t, "inspect", path, "--json"), succeed(t, "inspect", path)
	for i, w := range append(slices.Clone(m.Weights[0]), m.Bias...) {
		se, z, p := m.StdErrors[i], r["z"].([]any)[i].(float64), r["p_values"].([]any)[i].(float64)
		interval := r["confidence_95"].([]any)[i].([]any)
		low, high := interval[0].(float64), interval[1].(float64)
		if z != w/se || math.Abs(p-beyond(math.Abs(z))) > 1e-9 || math.Abs(beyond((high-w)/se)-0.05) > 1e-9 || math.Abs(low+high-2*w) > 1e-12 {
			t.Errorf("weight %v, standard error %v: z %v, p %v, from %v to %v", w, se, z, p, low, high)
		}
		if !strings.Contains(shown, humanize.Real(low)) || !strings.Contains(shown, humanize.Real(high)) {
			t.Errorf("no interval from %v to %v in\n%s", low, high, shown)
		}
	}
}
