// Halfspace trains linear classifiers on millions of Parquet rows. See halfspace --help.
package main

import (
	"context"
	"os"

	"halfspace/cmd/internal/cli"
	"halfspace/internal/objects"
)

func main() {
	objects.Use(context.Background())
	os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
}
