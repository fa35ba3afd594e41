package dataset_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/schema"
)

// Load reads files of any format into memory. The features are the columns of numbers but the label.
func ExampleLoad() {
	data, err := dataset.Load(context.Background(), "../examples/iris.parquet", dataset.Options{Label: "species"})
	if err != nil {
		panic(err)
	}
	spec := data.Spec()
	fmt.Println(data.Rows(), "rows,", len(spec.Features), "features, classes", spec.Classes)
	// Output:
	// 150 rows, 4 features, classes [setosa versicolor virginica]
}

// Three steps open the rows of files: what lies there, what becomes of it, and the rows. With as little memory as here,
// each pass over the rows would read a large file again.
func ExamplePlan_Open() {
	ctx, opt := context.Background(), dataset.Options{Label: "species"}
	table, err := dataset.Examine(ctx, []string{"../examples/iris.parquet"}, opt)
	if err != nil {
		panic(err)
	}
	plan, err := table.Plan(ctx, opt)
	if err != nil {
		panic(err)
	}
	rows, err := plan.Open(ctx, dataset.Budget{Memory: 64 << 20, InOrder: true})
	if err != nil {
		panic(err)
	}
	defer rows.Close()
	for b, err := range rows.Blocks(ctx) {
		if err != nil {
			panic(err)
		}
		fmt.Println(b.Len(), "rows of", b.Cols, "columns, the bias included")
	}
	// Output:
	// 150 rows of 5 columns, the bias included
}

// Scan hands on blocks, and beside them any columns as an Arrow record.
func ExampleScan() {
	path := filepath.Join(os.TempDir(), "scan.csv")
	defer os.Remove(path)
	if err := os.WriteFile(path, []byte("id,size\na,1\nb,2\n"), 0o600); err != nil {
		panic(err)
	}
	err := dataset.Scan(context.Background(), []string{path}, dataset.Options{Keep: []string{"id"}},
		func(spec *schema.Spec, b *block.Block, kept arrow.Record) error {
			for r := range b.Len() {
				fmt.Println(kept.Column(0).ValueStr(r), spec.Features[0], b.X[r*b.Stride])
			}
			return nil
		})
	if err != nil {
		panic(err)
	}
	// Output:
	// a size 1
	// b size 2
}
