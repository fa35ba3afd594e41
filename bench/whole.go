package bench

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"halfspace/dataset"
	"halfspace/kernel"
	"halfspace/train"
	"halfspace/train/learner"
)

// loadedRows is the number of rows in the files that are loaded.
const loadedRows = 400_000

// loads returns the items of loading files. Their limit is the memory's bandwidth, for the bytes of the file and of the
// rows.
func (d *data) loads() []*Item {
	var all []*Item
	for _, compression := range []string{"none", "snappy", "zstd"} {
		path := filepath.Join(d.dir, compression+".parquet")
		i := &Item{Group: Loading, Name: fmt.Sprintf("Load/format=parquet/compression=%s/rows=%d/d=%d", compression, loadedRows, features),
			Cores: d.workers, memory: "DRAM"}
		i.run = func() error {
			if i.Bytes == 0 {
				size, err := d.file(path, compression)
				if err != nil {
					return err
				}
				i.Bytes = float64(size) + loadedRows*32*4
			}
			_, err := dataset.Load(d.ctx, path, dataset.Options{Label: "label", Workers: d.workers})
			return err
		}
		all = append(all, i.on("Transpose"))
	}
	return all
}

// file returns the size of a file of rows. It writes the file first if it doesn't exist.
func (d *data) file(path, compression string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		o := Synthetic{Rows: loadedRows, Features: features, Noise: 0.1, Seed: 1, Compression: compression}
		if err := WriteSynthetic(d.ctx, path, o, nil); err != nil {
			return 0, err
		}
		if info, err = os.Stat(path); err != nil {
			return 0, err
		}
	}
	return info.Size(), nil
}

// A shape is the rows and options of a learner's training.
type shape struct {
	rows        int
	conjunction int               // variables of the rows' conjunction; 0: noisy rows
	options     map[string]string // in the syntax of the command line
	alone       bool              // only one core visits the rows
}

// usual is the shape for learners that solve for an optimum.
var usual = shape{rows: 200_000}

// shapes are the shapes of the other learners. They are short enough for pure Go.
var shapes = map[string]shape{
	"perceptron":         {rows: 200_000, options: map[string]string{"epochs": "3"}, alone: true},
	"averaged":           {rows: 200_000, options: map[string]string{"epochs": "3"}, alone: true},
	"pocket":             {rows: 4000, options: map[string]string{"epochs": "1"}},
	"voted":              {rows: 2000, options: map[string]string{"epochs": "1"}, alone: true},
	"winnow":             {rows: 200_000, conjunction: 3, options: map[string]string{"epochs": "3"}, alone: true},
	"passive-aggressive": {rows: 200_000, options: map[string]string{"epochs": "3"}, alone: true},
	"ftrl":               {rows: 200_000, options: map[string]string{"epochs": "1"}, alone: true},
	"adagrad":            {rows: 200_000, options: map[string]string{"epochs": "1"}, alone: true},
	"dual":               {rows: 2000, options: map[string]string{"epochs": "10"}},
	"kernel-perceptron":  {rows: 2000, options: map[string]string{"epochs": "10", "kernel": "rbf"}},
}

// trainings returns a training of each learner.
func (d *data) trainings() []*Item {
	var all []*Item
	for _, l := range train.Learners {
		shape, ok := shapes[l.Name]
		if !ok {
			shape = usual
		}
		name := fmt.Sprintf("Train/learner=%s/rows=%d/d=%d", l.Name, shape.rows, features)
		for _, option := range slices.Sorted(maps.Keys(shape.options)) {
			name += "/" + option + "=" + shape.options[option]
		}
		i := &Item{Group: Trains, Name: name, Cores: d.workers, memory: place(float64(shape.rows) * 32 * 4), float: "FMA-float32"}
		if shape.alone {
			i.Cores = 1
		}
		i.run = func() error { return d.train(i, l, shape) }
		all = append(all, i)
	}
	return all
}

// train trains once. It records the time and the hash of the model's file, which must be the same in every run.
func (d *data) train(i *Item, of *learner.Learner, shape shape) error {
	l := train.Learner{Learner: of, Settings: of.New()}
	l.Settings.Running().Workers = d.workers
	var err error
	for option, value := range shape.options {
		if l, err = l.With(option, value); err != nil {
			return err
		}
	}
	rows := d.Noisy(shape.rows, features)
	if shape.conjunction > 0 {
		rows = d.conjunction(shape.rows, shape.conjunction)
	}
	f, err := train.Run(d.ctx, rows, l, train.Options{})
	if err != nil {
		return err
	}
	hash := sha256.New()
	if _, err := f.Model.WriteTo(hash); err != nil {
		return err
	}
	sum := fmt.Sprintf("%x", hash.Sum(nil))
	if known := d.hashes[of.Name]; known != "" && known != sum {
		return fmt.Errorf("%s learned two models from the same rows: the files' SHA-256 are %s and, on %s, %s: this is a bug, please report it with the processor",
			of.Name, known, kernel.Active(), sum)
	}
	d.hashes[of.Name], i.SHA256 = sum, sum
	i.Seconds = append(i.Seconds, f.Result.Seconds)
	i.count(of.Name, f)
	return nil
}

// count records a lower bound of the bytes and flops of the training.
func (i *Item) count(learner string, f *train.Trained) {
	const cols = features + 1
	r, n := f.Result, float64(f.Model.Data.Rows)
	visits, updates := float64(r.Visits), float64(r.Updates)
	i.Bytes = visits * 32 * 4
	i.Flops = 2*cols*(visits+updates) + 2*cols*float64(r.RowsScored)
	switch learner {
	case "dual", "kernel-perceptron": // the Gram matrix, and one of its rows for each update
		i.Bytes, i.Flops = updates*n*4, n*n*features+2*updates*n
	case "lda": // a scatter matrix
		i.Bytes, i.Flops, i.float = n*32*4, n*cols*(cols+1), "FMA-float64"
	case "logistic": // a Hessian in each pass except the last
		i.Flops, i.float = (visits-n)*cols*(cols+1)+4*cols*visits, "FMA-float64"
	case "svm": // scores and gradients; Hessians include only the rows within the margin
		i.Flops, i.float = 4*cols*visits, "FMA-float64"
	}
}
