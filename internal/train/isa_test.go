package train_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/train"
	"halfspace/train/perceptron"
)

// TestISAVariable: a program hears of a wrong HALFSPACE_ISA as the error of its first training.
func TestISAVariable(t *testing.T) {
	if os.Getenv("HALFSPACE_TEST_ISA") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestISAVariable$")
		cmd.Env = append(os.Environ(), "HALFSPACE_TEST_ISA=yes", "HALFSPACE_ISA=foo")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	rows, err := block.FromRows([][]float64{{1}, {2}}, []string{"a", "b"}, block.RowOptions{})
	if err == nil {
		_, err = train.Run(t.Context(), rows, perceptron.New(perceptron.Options{}), train.Options{})
	}
	if err == nil || !strings.Contains(err.Error(), `HALFSPACE_ISA: unknown instruction set "foo"`) {
		t.Errorf("error %v", err)
	}
}
