package gonumblas_test

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"halfspace/gram/gonumblas"
)

// All of gonum's mat runs on these kernels after Use.
func Example() {
	blas64.Use(gonumblas.Implementation{})
	a := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	var product mat.Dense
	product.Mul(a, a.T())
	fmt.Println(mat.Formatted(&product))
	// Output:
	// ⎡ 5  11⎤
	// ⎣11  25⎦
}
