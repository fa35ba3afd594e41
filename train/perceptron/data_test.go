// Compiling Arrow with the race detector takes minutes, so make race leaves this file out.

//go:build !race

package perceptron

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"halfspace/block"
	"halfspace/dataset"
	"halfspace/kernel"
	"halfspace/pocket"
	"halfspace/train"
)

// TestDataSets compares every mode of the pocket with the literal algorithm on public data sets. It takes every
// instruction set, several workers, rows in memory and in a cache. It skips data sets that aren't beside the
// repository.
func TestDataSets(t *testing.T) {
	const folder = "../../../shared/data"
	if _, err := os.Stat(folder); err != nil || testing.Short() {
		t.Skip("there are no data sets beside the repository, or this run is to be short")
	}
	best := kernel.Active()
	defer kernel.Use(best)
	for _, c := range []struct {
		file, label string
		updates     int64
	}{{"magic04.csv.gz", "last", 300}, {"htru2.csv.gz", "class", 300}, {"a9a.svm.gz", "label", 100}, {"banknote.csv", "last", 700}} {
		data, err := dataset.Load(context.Background(), []string{filepath.Join(folder, c.file)}, dataset.Options{Label: c.label})
		if err != nil {
			t.Fatal(err)
		}
		cached := inCache(t, data)
		for _, mode := range pocket.Modes {
			opt := Options{Options: train.Options{Order: train.Shuffle, Epochs: 3, MaxUpdates: c.updates, Eta: 1, Seed: 3}, Pocket: mode}
			switch mode {
			case pocket.Ratchet:
				opt.Order = train.Random
			case pocket.Epoch:
				opt.MaxUpdates = 0
			}
			want := newLiteral(data)
			want.start(mode, nil)
			converged := want.train(opt.Order, opt.Seed, int(opt.Epochs), 1, opt.MaxUpdates)
			for _, level := range kernel.Levels() {
				kernel.Use(level)
				for k, src := range []block.Source{data, cached, data} {
					if level == kernel.Generic && k != 1 {
						continue // it takes long
					}
					opt.Workers = []int{1, 2, 8}[k]
					compareLiteral(t, c.file+" "+level.String()+" "+string(mode), mustTrain(t, src, opt), want, converged)
				}
			}
			kernel.Use(best)
		}
	}
}
