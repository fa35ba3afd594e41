package main

import (
	"fmt"

	"halfspace/internal/forecast"
	"halfspace/kernel"
	"halfspace/kernel/f64"
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
	add := func(function, columns, unit string, turn func([]instruction) ([]instruction, error), units func([]instruction) float64) {
		all = append(all, model{forecast.Kernel{Name: function + columns, Unit: unit}, function, turn, units})
	}
	products, stores := per(instruction.multiplied, 4), per(instruction.stored, 4)
	add("DotF32", "", "element", multiplies, products)
	add("AxpyF32", "", "element", multiplies, products)
	add("PeakF32", "", "multiply-add", multiplies, products)
	add("ExpF32", "", "element", multiplies, stores)
	add("TransposeF32", "", "element", storing, stores)
	add("TileF32", "", "multiply-add", multiplies, products)
	add("BoundsF32", "", "row and candidate", tileOf, per(instruction.multiplied, 4*candidateCols))
	add("BoundsWeightedF32", "", "row and candidate", tileOf, per(instruction.multiplied, 4*candidateCols))
	add("ScaleRowsF32", "", "row", rowOf(32*8), one) // 32 columns of float64
	for _, function := range []string{"SparseScoresF32", "SparseEpochF32", "SparseEpochIndexedF32", "SparseAddF32"} {
		add(function, "", "element", fusing, per(instruction.fused, 1))
	}
	add("SparseScores8F32", "", "element and vector", multiplies, products)
	products, stores = per(instruction.multiplied, 8), per(instruction.stored, 8)
	add("DotF64", "", "element", multiplies, products)
	add("AxpyF64", "", "element", multiplies, products)
	add("ExpF64", "", "element", multiplies, stores)
	add("SigmoidF64", "", "element", multiplies, stores)
	add("Log1pF64", "", "element", multiplies, stores)
	add("RankKUpdateF64", "", "multiply-add", multiplies, products)
	add("LogisticF64", "", "element", multiplies, per(instruction.stored, 4*8)) // it stores four arrays
	for _, columns := range []int{28, 256} {
		suffix := fmt.Sprintf("/%d", columns)
		for _, function := range []string{"ScoresF32", "EpochF32", "EpochIndexedF32"} {
			add(function, suffix, "row", rowOf(kernel.Stride(columns)*4), one)
		}
		add("ScoresF64", suffix, "row", rowOf(f64.Stride(columns)*8), one)
	}
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
