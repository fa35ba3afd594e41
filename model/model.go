// Package model holds the result of a training as a model file.
//
// # The file
//
// A model file is indented JSON with "format": "halfspace-model/1". It doesn't depend on the number of workers, the
// instruction set, the memory, paths, file formats, the time or the version of the program. The same data, options and
// seed give the same bytes.
//
// Weights and bias are written as the shortest decimals that parse back, as float64, to the exact value, even if the
// weight is a float32: any reader of JSON gets the exact number. With two classes, "weights" has one row. The score of
// a row of data is the dot product of its features with that row, plus the "bias". If the score is above zero, or above
// the "threshold" if there is one, the prediction is the class "positive", otherwise it is the other class. With more
// than two classes, each class has a row of "weights" and a bias; the class with the greatest score is predicted. A
// model of support rows has an "expansion" in place of "weights"; see Expansion.
//
// A voted perceptron also has "voters"; its "weights" are the mean of the voters. The "weights" of the voters are
// vectors of little-endian float32 in base64, each with the bias at its end. Each vector has as many votes as its
// number in "counts". It votes for "positive" if its score is above zero, and for the other class otherwise. The row's
// score is the share of the votes for "positive" minus the share of the other votes. With more than two classes,
// "sizes" has the number of vectors of each class, in the order of "classes". The vectors vote for their class or
// against it; the class with the largest share of its votes is predicted.
//
// The last key, on its own line, is "checksum": the SHA-256 of every byte of the file before that line. To check it by
// hand:
//
//	head -n -2 m.json | sha256sum
//
// A reader accepts keys that it doesn't know, but only the number 1 after the slash of "format".
//
// # In a program
//
// A program reads a model, and package predict applies it to rows, in the form that raw data has:
//
//	m, err := model.Load("m.json")
//	...
//	p, err := predict.New(m)
//
// A training of package train gives a complete model, and Save writes it. New makes a model from weights that a program
// has. For files that can't be used, the errors are ErrNoModel, ErrVersion and ErrDamaged.
//
// Package halfspace/internal/model defines the types: "go doc halfspace/internal/model.Model" prints fields and methods.
package model

import (
	"io"

	"halfspace/internal/model"
	"halfspace/schema"
)

// Format is the value of "format", the first key of a model file.
const Format = model.Format

// Values of train.Options.Multiclass.
const (
	OneVersusRest = model.OneVersusRest // one training for each class, against all others
	Joint         = model.Joint         // one training of all classes
)

// Values of train.Output.Calibrate: methods by which scores become probabilities.
const (
	Platt    = model.Platt    // p = 1/(1 + e^(a s + b))
	Isotonic = model.Isotonic // p is linear between the scores of a list
)

// The errors that Read and Load return; test for them with errors.Is. For a file that can't be opened, Load returns an
// error of package os.
var (
	ErrNoModel = model.ErrNoModel // the file isn't a model
	ErrVersion = model.ErrVersion // the file is of another version of the program
	ErrDamaged = model.ErrDamaged // the file was cut or changed, or has impossible values
	ErrMemory  = model.ErrMemory  // the model takes more memory than allowed
)

// Model is a linear classifier, or a classifier with an Expansion in place of Weights. With two classes, Weights has
// one row with a weight for each feature, and Bias has one number, or none if the model was trained without a bias.
// With more classes, Weights has a row and Bias a number for each class. Save writes the model's file.
type Model = model.Model

// Receipt has the sums of a training: of its files, its rows, its model, and its weights after each epoch. The command
// halfspace verify repeats the training and compares them.
type Receipt = model.Receipt

// New returns a model of the columns of a spec, with weights that a program has, in the order of the columns of a block.
func New(spec *schema.Spec, weights []float32) *Model { return model.New(spec, weights) }

// Read reads a model's file to its end. It returns ErrNoModel, ErrVersion or ErrDamaged unless the format and the
// checksum are right and the model passes Check. It returns ErrMemory if reading the file takes more than four fifths of
// the available memory, or if the file's sparse weights expand to more than two fifths.
func Read(r io.Reader) (*Model, error) { return model.Read(r) }

// Load reads a model from a file; see Read.
func Load(path string) (*Model, error) { return model.Load(path) }

// LoadReceipt reads a receipt from a file.
func LoadReceipt(path string) (*Receipt, error) { return model.LoadReceipt(path) }
