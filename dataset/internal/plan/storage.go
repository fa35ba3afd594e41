package plan

import "halfspace/schema"

// A Storage is the form in which blocks store rows. The rows and the trained models are the same in every form.
type Storage string

// The values of Storage; "" means Auto.
const (
	Dense  Storage = "dense"  // every value
	Sparse Storage = "sparse" // the values that aren't 0, each with its column
	Auto   Storage = "auto"   // Sparse if that takes at most 1/8 of the memory
)

// Widest returns the largest number of features of a row.
func (s Storage) Widest() int {
	if s == Dense {
		return schema.MaxFeatures
	}
	return schema.MaxNamed
}

// Numbered returns the largest number of features of a row of an svmlight file.
func (s Storage) Numbered() int {
	if s.Widest() > schema.MaxFeatures {
		return schema.MaxNumbered
	}
	return schema.MaxFeatures
}
