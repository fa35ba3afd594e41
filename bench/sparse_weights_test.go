package bench

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// liblinearWeights returns the weights of LIBLINEAR's model file. Its positive class is the label 1.
func liblinearWeights(t testing.TB, path string) (w []float64) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	head, numbers, _ := strings.Cut(string(text), "\nw\n")
	sign := 1.0
	if strings.Contains(head, "label -1 1") {
		sign = -1
	}
	for _, s := range strings.Fields(numbers) {
		v, err := strconv.ParseFloat(s, 64)
		require.NoError(t, err)
		w = append(w, sign*v)
	}
	return w
}

// vowpalWeights reads a readable model: a head that ends with a line ":0", or ":1" from version 9 on, then lines of a
// number and a weight. Weights must be multiplied by the head's l2_state, by which Vowpal Wabbit shrinks all at once.
func vowpalWeights(t testing.TB, path string) (w []float64) {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	shrunk, head := 1.0, true
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if state, ok := strings.CutPrefix(line, "l2_state "); ok {
			if shrunk, err = strconv.ParseFloat(state, 64); err != nil {
				t.Fatal(err)
			}
		}
		head = head && line != ":0" && line != ":1"
		index, value, _ := strings.Cut(line, ":")
		i, err := strconv.Atoi(index)
		value, _, _ = strings.Cut(value, " ") // the state of the learner may follow
		v, err2 := strconv.ParseFloat(value, 64)
		if head || err != nil || err2 != nil || i < 1 {
			continue
		}
		for len(w) < i {
			w = append(w, 0)
		}
		w[i-1] = v * shrunk
	}
	if len(w) == 0 {
		t.Fatal("vw wrote no weights")
	}
	return w
}

// plainWeights reads a number from each line.
func plainWeights(t testing.TB, path string) (w []float64) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, number := range strings.Fields(string(text)) {
		v, err := strconv.ParseFloat(number, 64)
		require.NoError(t, err)
		w = append(w, v)
	}
	return w
}
