package truncated_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train"
	"halfspace/train/truncated"
)

func fromFile(path string, features int) *block.Data[float32] {
	spec := &schema.Spec{Features: make([]string, features), Label: "y", Classes: []schema.Class{schema.IntClass(-1), schema.IntClass(1)}, Positive: 1}
	text, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var blocks []*block.Block[float32]
	step := block.Rows[float32](features)
	for first := 0; first < len(lines); first += step {
		s, y := &kernel.SparseRows[float32]{Ptr: []int64{0}}, []float32(nil)
		for _, line := range lines[first:min(len(lines), first+step)] {
			f := strings.Fields(line)
			v, _ := strconv.ParseFloat(f[0], 32)
			y = append(y, float32(v))
			for _, p := range f[1:] {
				i, val, _ := strings.Cut(p, ":")
				c, _ := strconv.Atoi(i)
				x, _ := strconv.ParseFloat(val, 32)
				s.Idx, s.Val = append(s.Idx, uint32(c-1)), append(s.Val, float32(x))
			}
			s.Ptr = append(s.Ptr, int64(len(s.Idx)))
		}
		blocks = append(blocks, &block.Block[float32]{First: int64(first), Cols: features, Stride: kernel.Stride[float32](features), Sparse: s, Y: y})
	}
	return block.NewData(spec, blocks)
}

func TestLib(t *testing.T) {
	features, _ := strconv.Atoi(os.Getenv("COLS"))
	d := fromFile(os.Getenv("FILE"), features)
	for _, c := range []struct {
		model string
		loss  func(z, factor, curvature, loss, y []float64)
	}{{"0", kernel.Logistic}, {"2", squaredHinges}} {
		for _, workers := range []int{1, 2} {
			start := time.Now()
			task := truncated.Task[float32]{Options: train.Options{Workers: workers, Epochs: 1000}, Rows: d, L2: 1, Loss: c.loss}
			s, err := task.Solve(context.Background())
			took := time.Since(start)
			text, _ := os.ReadFile("/tmp/kern/m" + c.model)
			_, ws, _ := strings.Cut(string(text), "\nw\n")
			w := make([]float64, features)
			for i, v := range strings.Fields(ws) {
				w[i], _ = strconv.ParseFloat(v, 64)
			}
			if strings.Contains(string(text), "label -1") {
				for i := range w {
					w[i] = -w[i]
				}
			}
			square := 0.0
			for _, v := range w {
				square += v * v
			}
			loss, _ := task.Value(context.Background(), w)
			fmt.Printf("-s %s workers %d: %v, objective %.9g gap %.2g passes %d %v; liblinear %.9g, relative %.2g\n", c.model, workers, took, s.Objective, s.Gap, s.Passes, err, loss+square/2, (loss+square/2)/s.Objective-1)
		}
	}
}
