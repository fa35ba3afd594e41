package engine_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"halfspace/cmd/internal/cli"
	"halfspace/internal/require"
)

// asCommand has the test binary run as halfspace.
const asCommand = "HALFSPACE_ENGINE_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// command returns a run of halfspace.
func command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	return cmd
}

// run runs a verb of halfspace in this process.
func run(t *testing.T, args ...string) {
	t.Helper()
	var out, said bytes.Buffer
	if status := cli.Main(args, &out, &said); status != 0 {
		t.Fatalf("halfspace %v: status %d: %s", args, status, &said)
	}
}

// send and receive are the messages of the package as another program writes and reads them.
func send(w io.Writer, texts ...[]byte) error {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(texts)))
	for _, text := range texts {
		b = append(binary.LittleEndian.AppendUint64(b, uint64(len(text))), text...)
	}
	_, err := w.Write(b)
	return err
}

func receive(r io.Reader) (texts [][]byte, err error) {
	var n uint32
	if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
		return nil, err
	}
	for range n {
		var length uint64
		if err := binary.Read(r, binary.LittleEndian, &length); err != nil {
			return nil, err
		}
		text := make([]byte, length)
		if _, err := io.ReadFull(r, text); err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// A process is halfspace worker on standard input and output.
type process struct {
	args []string
	cmd  *exec.Cmd
	to   io.WriteCloser
	from io.Reader
}

func (p *process) start(t *testing.T) {
	t.Helper()
	p.cmd = command(append([]string{"worker"}, p.args...)...)
	var err error
	p.to, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	p.from, err = p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.cmd.Stderr = os.Stderr
	require.NoError(t, p.cmd.Start())
	hello, err := receive(p.from)
	if err != nil || len(hello) != 2 || string(hello[0]) != "worker" {
		t.Fatalf("a worker says %q, error %v", hello, err)
	}
}

// end ends a worker by the end of its standard input.
func (p *process) end(t *testing.T) {
	p.to.Close()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the worker's end: %v", err)
	}
}

// An engine deals the pieces of passes to workers. It sends some pieces twice.
type engine struct {
	workers  []*process
	identity string // in place of the driver's; "": the driver's
	kill     func(pass int) *process
	passes   int
	parts    []part // of a table, one for each worker; none for files
	reads    int    // of bytes of parts
}

// A part is a file that one worker has.
type part struct {
	URL        string
	Rows, Size int64
	Sum        string
	file       string
}

// pass answers a message of the driver.
func (e *engine) pass(t *testing.T, m [][]byte) (answer [][]byte) {
	var positions []float64
	if err := json.Unmarshal(m[1], &positions); err != nil || len(positions) != len(m)-5 {
		t.Errorf("%d pieces at %s, error %v", len(m)-5, m[1], err)
	}
	answer = append(make([][]byte, 0, len(m)), []byte("ok"))
	answer = answer[:len(m)-4]
	identity := m[2]
	if e.identity != "" {
		identity = []byte(e.identity)
	}
	if e.kill != nil {
		if p := e.kill(e.passes); p != nil {
			p.cmd.Process.Kill()
		}
	}
	e.passes++
	for k, w := range e.workers {
		request, places := [][]byte{[]byte("compute"), identity, m[3], m[4]}, []int(nil)
		for i, at := range positions {
			if at < 0 || at >= 1 {
				t.Errorf("a piece is at %v", at)
			}
			if e.workerOf(at) == k {
				request, places = append(request, m[5+i]), append(places, i)
			}
		}
		if len(places) == 0 {
			continue
		}
		results, err := w.ask(request)
		for try := 0; err != nil && try < 3; try++ {
			w.cmd.Wait()
			w.start(t)
			results, err = w.ask(request)
		}
		if err != nil || string(results[0]) == "no" {
			return results
		}
		for j, i := range places {
			answer[1+i] = results[1+j]
		}
	}
	return answer
}

// workerOf returns the worker for a position.
func (e *engine) workerOf(position float64) (k int) {
	if len(e.parts) == 0 {
		return int(position * float64(len(e.workers)))
	}
	before, rows := int64(0), int64(0)
	for _, p := range e.parts {
		rows += p.Rows
	}
	for ; k < len(e.parts)-1 && position >= float64(before+e.parts[k].Rows)/float64(rows); k++ {
		before += e.parts[k].Rows
	}
	return k
}

// describe returns the answer to the message parts.
func (e *engine) describe(t *testing.T) [][]byte {
	answer := [][]byte{[]byte("ok")}
	for _, p := range e.parts {
		text, err := os.ReadFile(p.file)
		require.NoError(t, err)
		coded, err := json.Marshal(p)
		require.NoError(t, err)
		answer = append(answer, coded, text[:100], text[max(0, len(text)-8192):])
	}
	return answer
}

// read returns the answer to the message read.
func (e *engine) read(t *testing.T, m [][]byte) [][]byte {
	e.reads++
	for _, p := range e.parts {
		if p.URL == string(m[1]) {
			text, err := os.ReadFile(p.file)
			require.NoError(t, err)
			offset, _ := strconv.ParseInt(string(m[2]), 10, 64)
			length, _ := strconv.ParseInt(string(m[3]), 10, 64)
			return [][]byte{[]byte("ok"), text[offset : offset+length]}
		}
	}
	return [][]byte{[]byte("no"), []byte("no such part")}
}

func (p *process) ask(request [][]byte) ([][]byte, error) {
	if err := send(p.to, request...); err != nil {
		return nil, err
	}
	return receive(p.from)
}

// train runs a verb of halfspace whose passes an engine makes. It returns what the command says.
func (e *engine) train(t *testing.T, args ...string) (said string, err error) {
	t.Helper()
	driver, requestFrom, answerTo := startDriver(t, len(e.parts), args...)
	for {
		m, err := receive(requestFrom)
		if err != nil {
			break
		}
		var answer [][]byte
		switch string(m[0]) {
		case "pass":
			answer = e.pass(t, m)
		case "parts":
			answer = e.describe(t)
		case "read":
			answer = e.read(t, m)
		default:
			t.Errorf("the driver says %q", m[0])
		}
		if send(answerTo, answer...) != nil {
			break
		}
	}
	err = driver.Wait()
	return driver.Stdout.(*bytes.Buffer).String(), err
}

// startDriver starts a verb of halfspace as an adapter does, and returns the adapter's ends of the pipes.
func startDriver(t *testing.T, parts int, args ...string) (cmd *exec.Cmd, requestFrom, answerTo *os.File) {
	t.Helper()
	requestFrom, requestTo, err := os.Pipe()
	require.NoError(t, err)
	answerFrom, answerTo, err := os.Pipe()
	require.NoError(t, err)
	cmd = command(args...)
	cmd.Env = append(cmd.Env, fmt.Sprintf("HALFSPACE_CLUSTER=3,4,2,%d", parts))
	cmd.ExtraFiles = []*os.File{answerFrom, requestTo}
	cmd.Stdout = new(bytes.Buffer)
	cmd.Stderr = cmd.Stdout
	require.NoError(t, cmd.Start())
	answerFrom.Close()
	requestTo.Close()
	t.Cleanup(func() {
		requestFrom.Close()
		answerTo.Close()
	})
	return cmd, requestFrom, answerTo
}

// newEngine starts an engine with some workers.
func newEngine(t *testing.T, workers int, args ...string) *engine {
	e := new(engine)
	for range workers {
		p := &process{args: args}
		p.start(t)
		e.workers = append(e.workers, p)
		t.Cleanup(func() { p.end(t) })
	}
	return e
}

// checkSame compares two files.
func checkSame(t *testing.T, what, got, want string) {
	t.Helper()
	a, err := os.ReadFile(got)
	b, errWant := os.ReadFile(want)
	if err := errors.Join(err, errWant); err != nil || !bytes.Equal(a, b) {
		t.Errorf("%s: the file differs from that of a single process, error %v", what, err)
	}
}

// makeNumbers makes files of rows with numbers.
func makeNumbers(t *testing.T, extension string, options ...string) string {
	dir := t.TempDir()
	for i := range 3 {
		run(t, append([]string{"gen", "--rows", fmt.Sprint(9000 + i), "--features", "6", "--noise", "0.1", "--seed", fmt.Sprint(i),
			"--out", filepath.Join(dir, fmt.Sprint(i, extension))}, options...)...)
	}
	return dir
}

// makeMixed makes files of three classes with missing numbers, a column of text and a date.
func makeMixed(t *testing.T) string {
	from, dir := filepath.Join(t.TempDir(), "a.csv"), t.TempDir()
	rng := rand.New(rand.NewPCG(3, 4))
	text := "x,y,color,day,label\n"
	for range 14001 {
		x, y, color := rng.NormFloat64()+5, fmt.Sprint(rng.NormFloat64()), rng.IntN(4)
		label := []string{"low", "middle", "high"}[max(0, min(2, int(x-4+float64(color)/4)))]
		if rng.IntN(9) == 0 {
			y = ""
		}
		text += fmt.Sprintf("%v,%s,color %d,2024-0%d-11,%s\n", x, y, color, 1+rng.IntN(9), label)
	}
	require.NoError(t, os.WriteFile(from, []byte(text), 0o600))
	run(t, "convert", from, "--out", filepath.Join(dir, "a.parquet"))
	return dir
}

// TestSame: a training by two workers writes the model file of a single process, byte for byte.
func TestSame(t *testing.T) {
	e := newEngine(t, 2)
	for _, c := range []struct {
		dir       string
		trainings []string
	}{
		{makeNumbers(t, ".parquet"), []string{
			"--algo lda --standardize", "--algo logistic --l2 1 --class-weight balanced", "--algo svm", "--algo svm --loss hinge --epochs 5",
			"--algo logistic --solver truncated --l2 1 --epochs 5", "--algo averaged --shards 3 --order shuffle --epochs 3",
			"--algo pocket --shards 2 --epochs 3 --mix mistakes", "--algo adagrad --shards 2 --epochs 2", "--algo arow --shards 2 --epochs 2",
			"--algo passive-aggressive --shards 2 --epochs 2", "--algo logistic --solver sgd --shards 2 --epochs 2",
			"--algo logistic --l2 1 --validation 0.2", "--algo logistic --l2 1 --cv 3", "--algo ftrl --epochs 2", "--algo logistic --l1 1"}},
		{makeNumbers(t, ".svm"), []string{"--algo logistic --l2 1", "--algo averaged --shards 2 --epochs 2", "--algo svm --memory 64MiB"}},
		{makeMixed(t), []string{"", "--algo lda", "--algo averaged --shards 2 --epochs 3 --nulls zero --categorical hash:20"}},
	} {
		for _, options := range c.trainings {
			args := append([]string{"train", c.dir, "--label", "label"}, strings.Fields(options)...)
			want, got := filepath.Join(t.TempDir(), "want.json"), filepath.Join(t.TempDir(), "got.json")
			run(t, append(args, "--out", want)...)
			e.passes = 0
			if said, err := e.train(t, append(args, "--out", got)...); err != nil || e.passes == 0 {
				t.Errorf("%s: %d passes, error %v: %s", options, e.passes, err, said)
				continue
			}
			checkSame(t, options, got, want)
		}
	}
}

// TestLakes: workers read the version of a lake table that the driver reads. A table that changes is an error.
func TestLakes(t *testing.T) {
	tables := require.Value(zip.OpenReader("../../../dataset/testdata/lakes/tables.zip"))(t)
	defer tables.Close()
	dir, e := t.TempDir(), newEngine(t, 2)
	require.NoError(t, os.CopyFS(dir, tables))
	for _, table := range []string{"deltalake_plain", "deltalake_cleaned_log", "spark_delta_vectors", "pyiceberg_plain"} {
		want, got := filepath.Join(t.TempDir(), "want.json"), filepath.Join(t.TempDir(), "got.json")
		args := []string{"train", filepath.Join(dir, table), "--label", "b", "--features", "x,f", "--algo", "lda"}
		run(t, append(args, "--out", want)...)
		e.passes = 0
		if said, err := e.train(t, append(args, "--out", got)...); err != nil || e.passes == 0 {
			t.Errorf("%s: %d passes, error %v: %s", table, e.passes, err, said)
			continue
		}
		checkSame(t, table, got, want)
	}
	e.kill = func(pass int) *process {
		commits := require.Value(filepath.Glob(filepath.Join(dir, "deltalake_plain", "_delta_log", "*.json")))(t)
		require.NoError(t, os.WriteFile(commits[len(commits)-1], []byte("{}\n"), 0o600))
		return nil
	}
	said, err := e.train(t, "train", filepath.Join(dir, "deltalake_plain"), "--label", "b", "--algo", "lda", "--out", filepath.Join(t.TempDir(), "m.json"))
	if err == nil || !strings.Contains(said, "try again") {
		t.Errorf("a table that changes: %v: %s", err, said)
	}
}

// TestParts: a table whose parts lie on two hosts, one on each, has the model of the same rows in files. The driver reads the rows that
// no pass of workers covers.
func TestParts(t *testing.T) {
	whole, e := t.TempDir(), new(engine)
	var urls []string
	for k, rows := range []int64{8192, 12288, 5001} {
		folder := t.TempDir()
		p := part{URL: fmt.Sprintf("frame://table/%d.parquet", k), Rows: rows, Sum: fmt.Sprint(k), file: filepath.Join(folder, "table", fmt.Sprint(k, ".parquet"))}
		require.NoError(t, os.Mkdir(filepath.Dir(p.file), 0o700))
		run(t, "gen", "--rows", fmt.Sprint(rows), "--features", "6", "--noise", "0.1", "--seed", fmt.Sprint(k), "--out", p.file)
		text, err := os.ReadFile(p.file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(whole, fmt.Sprint(k, ".parquet")), text, 0o600))
		p.Size = int64(len(text))
		w := &process{args: []string{"--parts", folder}}
		w.start(t)
		t.Cleanup(func() { w.end(t) })
		e.workers, e.parts, urls = append(e.workers, w), append(e.parts, p), append(urls, p.URL)
	}
	for options, mostReads := range map[string]int{"--algo logistic --l2 1": 3, "--algo lda --standardize": 3, "--algo averaged --shards 3 --epochs 3": 9,
		"--algo averaged --shards 3 --order shuffle --epochs 2": 9, "--algo logistic --l2 1 --cv 3": 9, "": 9, "--algo ftrl --epochs 2": 9,
		"--algo logistic --l2 1 --validation 0.3": 9} {
		want, got := filepath.Join(t.TempDir(), "want.json"), filepath.Join(t.TempDir(), "got.json")
		args := append([]string{"--label", "label"}, strings.Fields(options)...)
		run(t, append([]string{"train", whole, "--out", want}, args...)...)
		e.passes, e.reads = 0, 0
		said, err := e.train(t, append(append([]string{"train", "--out", got}, urls...), args...)...)
		if err != nil || e.passes == 0 || e.reads > mostReads {
			t.Errorf("%s: %d passes, %d reads, error %v: %s", options, e.passes, e.reads, err, said)
			continue
		}
		checkSame(t, options, got, want)
	}
	args := append([]string{"train", "--label", "label", "--algo", "averaged", "--shards", "3", "--memory", "512KiB", "--out", filepath.Join(t.TempDir(), "m.json")}, urls...)
	if said, err := e.train(t, args...); err == nil || !strings.Contains(said, "give 2 MiB with --memory, or use more shards") {
		t.Errorf("a driver with too little memory for a shard of two parts: %v: %s", err, said)
	}
	e.workers[0], e.workers[1] = e.workers[1], e.workers[0]
	said, err := e.train(t, append([]string{"train", "--label", "label", "--algo", "svm", "--out", filepath.Join(t.TempDir(), "m.json")}, urls...)...)
	if err == nil || strings.Count(said, "\n") != 1 || !strings.Contains(said, "another host has these rows") {
		t.Errorf("workers without the rows: %v: %s", err, said)
	}
}

// TestKilled: workers that are killed at random moments, and started again, change nothing.
func TestKilled(t *testing.T) {
	dir, to := makeNumbers(t, ".parquet"), t.TempDir()
	e, rng := newEngine(t, 2), rand.New(rand.NewPCG(5, 6))
	e.kill = func(int) *process {
		if rng.IntN(4) > 0 {
			return nil
		}
		return e.workers[rng.IntN(2)]
	}
	for _, options := range []string{"--algo averaged --shards 4 --epochs 10", "--algo logistic --l2 1"} {
		args := append([]string{"train", dir, "--label", "label"}, strings.Fields(options)...)
		run(t, append(args, "--out", filepath.Join(to, "want.json"))...)
		said, err := e.train(t, append(args, "--out", filepath.Join(to, "got.json"))...)
		if err != nil {
			t.Fatal(err, said)
		}
		checkSame(t, options, filepath.Join(to, "got.json"), filepath.Join(to, "want.json"))
	}
}

// TestRefusals: a worker of another version, with too little memory, or with other files than the driver, gives one sentence.
func TestRefusals(t *testing.T) {
	dir := makeNumbers(t, ".parquet")
	args := []string{"train", dir, "--label", "label", "--algo", "averaged", "--shards", "2", "--epochs", "2", "--out", filepath.Join(t.TempDir(), "m.json")}
	e := newEngine(t, 1)
	e.identity = "0.0.1, protocol 1"
	said, err := e.train(t, args...)
	if err == nil || strings.Count(said, "\n") != 1 || !strings.Contains(said, "the driver runs halfspace 0.0.1, protocol 1, and this worker halfspace ") {
		t.Errorf("another version: %v: %s", err, said)
	}
	e = newEngine(t, 1, "--memory", "512KiB")
	said, err = e.train(t, args...)
	if err == nil || strings.Count(said, "\n") != 1 || !strings.Contains(said, "give 2 MiB with --worker-memory or") {
		t.Errorf("too little memory: %v: %s", err, said)
	}
	e = newEngine(t, 1)
	e.kill = func(pass int) *process {
		if pass == 1 {
			os.Remove(filepath.Join(dir, "1.parquet"))
		}
		return nil
	}
	said, err = e.train(t, args...)
	if err == nil || strings.Count(said, "\n") != 1 || !strings.Contains(said, "1.parquet") {
		t.Errorf("a file that is gone: %v: %s", err, said)
	}
	if said, err = e.train(t, "train", dir, "--label", "none"); err == nil || strings.Count(said, "\n") != 1 || !strings.Contains(said, `"none"`) {
		t.Errorf("a label that isn't there: %v: %s", err, said)
	}
}

// TestInterrupt: an interrupt ends the command while it waits for the answer to a pass, or for bytes of a part.
func TestInterrupt(t *testing.T) {
	dir := makeNumbers(t, ".parquet")
	text, err := os.ReadFile(filepath.Join(dir, "0.parquet"))
	require.NoError(t, err)
	e := &engine{parts: []part{{URL: "frame://table/0.parquet", Rows: 9000, Size: int64(len(text)), Sum: "0", file: filepath.Join(dir, "0.parquet")}}}
	for _, c := range []struct {
		word string
		args []string
	}{{"pass", []string{dir, "--algo", "lda"}}, {"read", []string{e.parts[0].URL, "--algo", "ftrl"}}} {
		parts := e.parts
		if c.word == "pass" {
			parts = nil
		}
		driver, requestFrom, answerTo := startDriver(t, len(parts), append([]string{"train", "--label", "label", "--out", filepath.Join(t.TempDir(), "m.json")}, c.args...)...)
		for {
			m, err := receive(requestFrom)
			if err != nil {
				t.Fatalf("before the request %s: %v: %s", c.word, err, driver.Stdout)
			}
			if string(m[0]) == c.word {
				break
			}
			require.NoError(t, send(answerTo, e.describe(t)...))
		}
		ended := make(chan error, 1)
		go func() { ended <- driver.Wait() }()
		require.NoError(t, driver.Process.Signal(os.Interrupt))
		select {
		case <-ended:
		case <-time.After(time.Minute):
			driver.Process.Kill()
			t.Errorf("the command waits for the answer to %s", c.word)
		}
	}
}

// startListener starts a worker at a socket, as a child of this process that ends with the process parent.
func startListener(t *testing.T, socket string, parent int) *exec.Cmd {
	t.Helper()
	cmd := command("worker", "--socket", socket, "--parent", fmt.Sprint(parent))
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	for range 600 {
		if c, err := net.Dial("unix", socket); err == nil {
			c.Close()
			return cmd
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the worker doesn't listen")
	return nil
}

// TestParent: a worker at a socket ends with its parent, though an adapter is connected, and when nobody asks for long. It leaves no file.
func TestParent(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	parent := exec.Command("sleep", "1000")
	require.NoError(t, parent.Start())
	worker := startListener(t, socket, parent.Process.Pid)
	c, err := net.Dial("unix", socket)
	require.NoError(t, err)
	defer c.Close()
	if hello, err := receive(c); err != nil || len(hello) != 2 {
		t.Errorf("the worker says %q, error %v", hello, err)
	}
	parent.Process.Kill() // it stays a zombie until the test ends
	if err := worker.Wait(); err != nil {
		t.Error("with its parent:", err)
	}
	parent.Wait()
	require.NoError(t, command("worker", "--socket", socket, "--parent", fmt.Sprint(os.Getpid()), "--idle", "10ms").Run())
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, error %v", left, err)
	}
	gone := command("worker", "--socket", socket, "--parent", fmt.Sprint(parent.Process.Pid))
	require.NoError(t, gone.Run())
}
