// Halfspace trains linear classifiers on millions of Parquet rows. See halfspace --help.
package main

import (
	"context"
	"os"
	"time"

	"halfspace/cmd/internal/cli"
	"halfspace/internal/objects"
)

func main() {
	objects.Use(context.Background(), 2*time.Second)
	os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
}
