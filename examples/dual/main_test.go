package main

import "context"

func Example() {
	if err := run(context.Background()); err != nil {
		panic(err)
	}
	// Output:
	// 1.000 0.135 0.368 0.368
	// 0.135 1.000 0.368 0.368
	// 0.368 0.368 1.000 0.135
	// 0.368 0.368 0.135 1.000
	// 4 support rows, 0 errors
}
