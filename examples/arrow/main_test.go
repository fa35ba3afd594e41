package main

import "context"

func Example() {
	for _, most := range []int64{0, 3} {
		if err := run(context.Background(), most); err != nil {
			panic(err)
		}
	}
	// Output:
	// interrupted: false epochs: 100
	// interrupted: true epochs: 3
}
