package gonumblas_test

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"halfspace/gram/gonumblas"
)

// Products of gonum's blas32 run on these kernels after Use. Small ones, as here, are still gonum's.
func Example() {
	blas32.Use(gonumblas.Implementation{})
	a := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4}}
	product := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: make([]float32, 4)}
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, a, a, 0, product)
	fmt.Println(product.Data)
	// Output: [5 11 11 25]
}
