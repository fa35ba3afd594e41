// Halfspace trains linear classifiers on millions of Parquet rows. See halfspace --help.
package main

import (
	"os"

	"halfspace/cmd/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
}
