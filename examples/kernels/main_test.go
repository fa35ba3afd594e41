package main

func Example() {
	main()
	// Output:
	// 7 updates, weights [1 1] bias -3 scores [3 4 -1]
}
