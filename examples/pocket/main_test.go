package main

import "context"

func Example() {
	if err := run(context.Background()); err != nil {
		panic(err)
	}
	// Output:
	// 3 errors after update 0
	// 2 errors after update 11
	// 1 errors after update 16
	// high where 2 * level + -4 is above 0
}
