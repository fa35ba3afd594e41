package main

import (
	"fmt"

	"halfspace/internal/forecast"
	"halfspace/kernel"
)

// A model says how the loop of a kernel is found in its function, and how much work a turn of it does.
type model struct {
	forecast.Kernel
	function string
	turn     func(f []instruction) ([]instruction, error)
	units    func(turn []instruction) float64
}

// candidateCols is the number of columns of the rows that package hotloops judges candidates on.
const candidateCols = 29

// models returns a model of each kernel.
func models() []model {
	var all []model
	for _, t := range []struct {
		name   string
		size   int
		stride func(columns int) int
	}{{"F32", 4, kernel.Stride[float32]}, {"F64", 8, kernel.Stride[float64]}} {
		name, size := t.name, t.size
		add := func(function, columns, unit string, turn func([]instruction) ([]instruction, error), units func([]instruction) float64) {
			all = append(all, model{forecast.Kernel{Name: function + name + columns, Unit: unit}, function + name, turn, units})
		}
		products, stores := per(instruction.multiplied, size), per(instruction.stored, size)
		add("Dot", "", "element", multiplies, products)
		add("Axpy", "", "element", multiplies, products)
		add("Peak", "", "multiply-add", multiplies, products)
		add("Exp", "", "element", multiplies, stores)
		add("Sigmoid", "", "element", multiplies, stores)
		add("Log1p", "", "element", multiplies, stores)
		add("Transpose", "", "element", storing, stores)
		add("Tile", "", "multiply-add", multiplies, products)
		add("Bounds", "", "row and candidate", tileOf, per(instruction.multiplied, size*candidateCols))
		add("BoundsWeighted", "", "row and candidate", tileOf, per(instruction.multiplied, size*candidateCols))
		for _, columns := range []int{28, 256} {
			for _, function := range []string{"Scores", "Epoch", "EpochIndexed"} {
				add(function, fmt.Sprintf("/%d", columns), "row", rowOf(t.stride(columns)*size), one)
			}
		}
		add("ScaleRows", "", "row", rowOf(32*8), one) // 32 columns of float64
		for _, function := range []string{"SparseScores", "SparseEpoch", "SparseEpochIndexed", "SparseAdd"} {
			add(function, "", "element", fusing, per(instruction.fused, 1))
		}
		add("SparseScores8", "", "element and vector", multiplies, products)
	}
	f64 := func(function, unit string, units func([]instruction) float64) {
		all = append(all, model{forecast.Kernel{Name: function + "F64", Unit: unit}, function + "F64", multiplies, units})
	}
	f64("RankKUpdate", "multiply-add", per(instruction.multiplied, 8))
	f64("Logistic", "element", per(instruction.stored, 4*8)) // it stores four arrays
	return all
}

func per(of func(instruction) int, bytes int) func([]instruction) float64 {
	return func(turn []instruction) float64 { return float64(sum(turn, of)) / float64(bytes) }
}

func one([]instruction) float64 { return 1 }

func multiplies(f []instruction) ([]instruction, error) { return most(f, instruction.multiplied) }
func storing(f []instruction) ([]instruction, error)    { return most(f, instruction.stored) }

// fusing returns a turn of a loop over the elements of a sparse row: the first of the loops with as many products.
func fusing(f []instruction) ([]instruction, error) { return most(f, instruction.fused) }

func most(f []instruction, of func(instruction) int) ([]instruction, error) {
	s, work := busiest(f, loops(f), of)
	if work == 0 {
		return nil, fmt.Errorf("no loop does any work")
	}
	return path(f, s), nil
}

func rowOf(bytes int) func([]instruction) ([]instruction, error) {
	return func(f []instruction) ([]instruction, error) { return row(f, bytes) }
}

// tileOf returns a turn of the loop over tiles of candidates and rows.
func tileOf(f []instruction) ([]instruction, error) {
	return around(f, func(int) int { return candidateCols })
}
