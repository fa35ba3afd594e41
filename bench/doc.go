// Package bench times the computer on which it runs.
//
// Run times the computer's limits, each kernel, the loading of files, and a training of each learner. Every computer
// does the same work, and learns the same models byte for byte, so benchstat can compare the results of two computers.
//
// The package's benchmarks measure halfspace end to end, mostly beside its peers, in one process on one machine:
//
//	go test -run '^$' -bench . -benchtime 1x ./bench          # all, short: two minutes
//	go test -run '^$' -bench Peer -benchtime 1x ./bench -full  # the rows and rounds of the documents
//
// A benchmark's name has its case, as in BenchmarkPeerGram/n=2048/d=512-2: 2048 rows of 512 features, 2 threads.
//
//	BenchmarkDot, Epoch, ...        kernels, products and sums of squares, as shares of the limits of this computer
//	BenchmarkMNIST                  handwritten digits beside published errors
//	BenchmarkStream                 epochs over rows that are not in memory
//	BenchmarkPeerDuckDB             loading Parquet, beside DuckDB and Arrow
//	BenchmarkPeerGram               Gram matrices, beside OpenBLAS and gonum
//	BenchmarkPeerSklearnDual        the dual perceptron, beside numpy and scikit-learn
//	BenchmarkPeerSklearnPerceptron  epochs of the perceptron, beside scikit-learn
//	BenchmarkPeerSklearnProcess     whole processes, beside Python with scikit-learn
//	BenchmarkPeerSklearnSolvers     logistic, svm and lda, beside scikit-learn
//
// The peers are other programs. If a benchmark's peer is not installed, the benchmark is skipped and prints a line that
// says so. Before the first round, the results of both sides are compared: a worse result of halfspace is a failure.
//
// Units without a prefix are units of halfspace. The prefixes sklearn-, numpy-, openblas- and duckdb- name the peer.
// Times are medians over rounds in which both sides take turns.
//
//	ms, s/run, ms/fit, ms/epoch  time of a run, of a fit alone, of an epoch
//	gram-ms                      time of the Gram matrix, a part of ms
//	cpu-ms                       processor time of all threads
//	train-s                      seconds of the training alone
//	GFLOP/s                      1e9 additions and multiplications per second; a Gram matrix counts n*n*d of them
//	updates/visit                share of visits that change the weights
//	x-faster, x-openblas, ...    time of the peer divided by the time of halfspace: above 1, halfspace is faster
//	x-faster-call                the same for the whole call, which also evaluates the model
//	ratio                        time divided by the time of DuckDB
//	limit-ms, x-limit            time of decoding or reading alone, and the epoch's time divided by it (Stream)
//	accuracy                     share of rows predicted correctly, 0 to 1
//	%average, %last, %vote       errors on the test digits in percent, by the form of the perceptron
//	mistakes, support            updates, and rows with a coefficient other than 0
//	rows-computed                rows of the Gram matrix that were computed
//	relative-gap                 bound on the objective's distance to the optimum, divided by the objective
//	weights-apart                largest difference of a weight, divided by the largest weight
//	ns/op                        time of all rounds of both sides, if it is printed
//
// TestSparsePeers compares optima with the optima of LIBLINEAR, scikit-learn and Vowpal Wabbit, which it runs as whole
// processes. With -table it writes a table of the page of measurements. The scripts that time peers are in the folder peers,
// beside a separate module that measures other Go libraries.
package bench
