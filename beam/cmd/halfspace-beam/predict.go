package main

import "io"

func predict(args []string, stdout, stderr io.Writer) int { return 1 }
