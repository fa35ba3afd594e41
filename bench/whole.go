package bench

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"halfspace/dataset"
	"halfspace/internal/microkernel"
	"halfspace/internal/train"
	"halfspace/kernel"
	"halfspace/train/learner"
)

// loadedRows is the number of rows in the files that are loaded.
const loadedRows = 400_000

// loads returns the items of loading files. The bytes of an item are the bytes of the file and of the rows in memory.
func (d *data) loads() []*item {
	var all []*item
	for _, compression := range []string{"none", "snappy", "zstd"} {
		path := filepath.Join(d.dir, compression+".parquet")
		i := &item{group: "load", name: fmt.Sprintf("Load/format=parquet/compression=%s/rows=%d/d=%d", compression, loadedRows, features),
			level: microkernel.Form("Transpose"), cores: d.workers}
		i.run = func() (time.Duration, error) {
			if i.bytes == 0 {
				size, err := d.file(path, compression)
				if err != nil {
					return 0, err
				}
				i.bytes = float64(size) + loadedRows*32*4
			}
			_, err := dataset.Load(d.ctx, path, dataset.Options{Label: "label", Workers: d.workers})
			return 0, err
		}
		all = append(all, i)
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
	usesOneCore bool              // only one core visits the rows
}

// usualShape is the shape for learners that solve for an optimum.
var usualShape = shape{rows: 200_000}

// learnerShapes are the shapes of the other learners. They are short enough for pure Go.
var learnerShapes = map[string]shape{
	"perceptron":         {rows: 200_000, options: map[string]string{"epochs": "3"}, usesOneCore: true},
	"averaged":           {rows: 200_000, options: map[string]string{"epochs": "3"}, usesOneCore: true},
	"pocket":             {rows: 4000, options: map[string]string{"epochs": "1"}},
	"voted":              {rows: 2000, options: map[string]string{"epochs": "1"}, usesOneCore: true},
	"winnow":             {rows: 200_000, conjunction: 3, options: map[string]string{"epochs": "3"}, usesOneCore: true},
	"passive-aggressive": {rows: 200_000, options: map[string]string{"epochs": "3"}, usesOneCore: true},
	"ftrl":               {rows: 200_000, options: map[string]string{"epochs": "1"}, usesOneCore: true},
	"adagrad":            {rows: 200_000, options: map[string]string{"epochs": "1"}, usesOneCore: true},
	"dual":               {rows: 2000, options: map[string]string{"epochs": "10"}},
	"kernel-perceptron":  {rows: 2000, options: map[string]string{"epochs": "10", "kernel": "rbf"}},
}

// trainings returns a training of each learner.
func (d *data) trainings() []*item {
	var all []*item
	for _, l := range train.Learners {
		shape, ok := learnerShapes[l.Name]
		if !ok {
			shape = usualShape
		}
		name := fmt.Sprintf("Train/learner=%s/rows=%d/d=%d", l.Name, shape.rows, features)
		for _, option := range slices.Sorted(maps.Keys(shape.options)) {
			name += "/" + option + "=" + shape.options[option]
		}
		i := &item{group: "train", name: name, level: kernel.Active(), cores: d.workers,
			run: func() (time.Duration, error) { return d.train(l, shape) }}
		if shape.usesOneCore {
			i.cores = 1
		}
		all = append(all, i)
	}
	return all
}

// train trains once. It returns the time of the learning, without the evaluation of the model. The hash of the model's
// file must be the same in every run.
func (d *data) train(of *learner.Learner, shape shape) (time.Duration, error) {
	l := train.Learner{Learner: of, Settings: of.New()}
	l.Settings.RunOptions().Workers = d.workers
	var err error
	for option, value := range shape.options {
		if l, err = l.With(option, value); err != nil {
			return 0, err
		}
	}
	rows := d.NoisyRows(shape.rows, features)
	if shape.conjunction > 0 {
		rows = d.conjunction(shape.rows, shape.conjunction)
	}
	f, err := train.Run(d.ctx, rows, l, train.Options{})
	if err != nil {
		return 0, err
	}
	hash := sha256.New()
	if _, err := f.Model.WriteTo(hash); err != nil {
		return 0, err
	}
	sum := fmt.Sprintf("%x", hash.Sum(nil))
	if known := d.hashes[of.Name]; known != "" && known != sum {
		return 0, fmt.Errorf("%s learned two models from the same rows: the files' SHA-256 are %s and, on %s, %s: "+
			"this is a bug, please report it with the processor", of.Name, known, kernel.Active(), sum)
	}
	d.hashes[of.Name] = sum
	return time.Duration(f.Result.Seconds * float64(time.Second)), nil
}
