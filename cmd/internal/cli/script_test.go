package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"halfspace/internal/parallel"
	"halfspace/internal/require"
	"halfspace/kernel"
)

// TestScripts runs the scripts of testdata/script, several at a time. Each has a folder of its own.
func TestScripts(t *testing.T) {
	inParallel(t)
	runScripts(t, "testdata/script", parallel.RaceEnabled) // the level of kernel.Use is the process's
}

// TestSerialScripts runs the scripts of testdata/script/serial one after the other: they use options that change the whole process,
// which are --isa, --memory and the environment, or read standard input.
func TestSerialScripts(t *testing.T) { runScripts(t, "testdata/script/serial", true) }

// inParallel lets a test run beside others, but under the race detector, which sees that all set the level of kernel.Use.
func inParallel(t *testing.T) {
	if !parallel.RaceEnabled {
		t.Parallel()
	}
}

// A scriptT is a test of a folder of scripts.
type scriptT struct {
	*testing.T
	serial bool
}

func (t scriptT) Parallel() {
	if !t.serial {
		t.T.Parallel()
	}
}
func (t scriptT) Verbose() bool { return testing.Verbose() }
func (t scriptT) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(one *testing.T) { f(scriptT{one, t.serial}) })
}

func runScripts(t *testing.T, dir string, serial bool) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	data := filepath.Join(root, "..", "shared", "data")
	if _, err := exec.LookPath("python3"); err != nil && !serial {
		t.Log("missing: python3")
	}
	testscript.RunT(scriptT{t, serial}, testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			env.Setenv("REPOSITORY", root)
			env.Setenv("SHARED", data)
			env.Setenv("BEST_ISA", kernel.Active().String())
			return os.Symlink(filepath.Join(root, "examples"), filepath.Join(env.WorkDir, "examples"))
		},
		Condition: func(cond string) (bool, error) {
			if name, ok := strings.CutPrefix(cond, "shared:"); ok {
				_, err := os.Stat(filepath.Join(data, name))
				return err == nil, nil
			}
			if cond != "full" {
				return false, fmt.Errorf("unknown condition %s", cond)
			}
			return !require.Small(), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"halfspace": scriptHalfspace, "error": scriptError, "usage": scriptUsage, "notes": scriptNotes, "has": scriptHas,
			"json": scriptJSON, "keep": scriptKeep, "report": scriptReport, "data": scriptData, "edit": scriptEdit,

			// each of these checks serves one or two scripts
			"interrupt": scriptInterrupt, "odds": scriptOdds, "validated": scriptValidated, "learned": scriptLearned, "goes-on": scriptGoesOn,
			"proof": scriptProof, "forge": scriptForge, "kept": scriptKept, "bounded": scriptBounded, "streams": scriptStreams,
			"lengthen": scriptLengthen,
		},
	})
}

// pathWord is a word of a command line that names a file or a folder of the script.
var pathWord = regexp.MustCompile(`^(examples/.*|[^:=-][^:]*(/|\.(csv|svm|txt|parquet|arrow|json|jsonl|html|svg|SVG|jpg|npy|npz|model|cache|go|c|onnx|gz|xls)))$`)

// memoryLimit is the limit of the garbage collector before any run. Runs set it and undo that, each as if it were alone.
var memoryLimit = debug.SetMemoryLimit(-1)

// runScript runs the program with the words of a script. Names of files in them mean files of the script's folder, and standard output
// and standard error name them so.
func runScript(ctx context.Context, ts *testscript.TestScript, args []string, watch func(stderr string)) (run scriptRun) {
	dir := ts.MkAbs("") + string(filepath.Separator)
	words := make([]string, len(args))
	for i, w := range args {
		option, value, given := strings.Cut(w, "=")
		switch {
		case given && strings.HasPrefix(w, "--") && pathWord.MatchString(value):
			w = option + "=" + dir + value
		case pathWord.MatchString(w) && !filepath.IsAbs(w):
			w = dir + w
		}
		words[i] = w
	}
	var stdout bytes.Buffer
	stderr := &watched{watch: watch}
	run.status = runOn(ctx, nil, words, &stdout, stderr)
	debug.SetMemoryLimit(memoryLimit)
	run.stdout, run.stderr = strings.ReplaceAll(stdout.String(), dir, ""), strings.ReplaceAll(stderr.String(), dir, "")
	return run
}

// A scriptRun is what the program said, and its exit status.
type scriptRun struct {
	status         int
	stdout, stderr string
}

// shown has the script see what the program said.
func shown(ts *testscript.TestScript, r scriptRun) scriptRun {
	io.WriteString(ts.Stdout(), r.stdout)
	io.WriteString(ts.Stderr(), r.stderr)
	return r
}

// A watched buffer shows all that it has to a function whenever it is written.
type watched struct {
	bytes.Buffer
	watch func(text string)
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if w.watch != nil {
		w.watch(w.String())
	}
	return n, err
}

// typedWord is a word of a script that has several words of a command line: options as compare prints them, or a command.
var typedWord = regexp.MustCompile(`^(halfspace |--[a-z-]+ )`)

// halfspace ARGS... runs the program, which must end with status 0, or with another one behind "!".
func scriptHalfspace(ts *testscript.TestScript, neg bool, args []string) {
	var words []string
	for _, w := range args {
		if !typedWord.MatchString(w) {
			words = append(words, w)
			continue
		}
		words = append(words, strings.Fields(strings.TrimPrefix(w, "halfspace "))...)
	}
	if r := shown(ts, runScript(context.Background(), ts, words, nil)); (r.status != exitDone) != neg {
		ts.Fatalf("exit status %d", r.status)
	}
}

// error TEXT ARGS... runs the program, which must end with status 1, print nothing, and say TEXT in one line behind notes.
func scriptError(ts *testscript.TestScript, _ bool, args []string) { failing(ts, args, exitFailed) }

// usage TEXT ARGS... is error with status 2, and the line ends with the help to read.
func scriptUsage(ts *testscript.TestScript, _ bool, args []string) {
	if r := failing(ts, args, exitUsage); !strings.HasSuffix(r.stderr, " --help)\n") {
		ts.Fatalf("no help is named")
	}
}

func failing(ts *testscript.TestScript, args []string, status int) scriptRun {
	r := shown(ts, runScript(context.Background(), ts, args[1:], nil))
	last := r.stderr
	for strings.HasPrefix(last, "note: ") {
		_, last, _ = strings.Cut(last, "\n")
	}
	if r.status != status || r.stdout != "" || !isOneLine(last) || !strings.Contains(last, unescape(args[0])) {
		ts.Fatalf("exit status %d, want %d and one line with %q", r.status, status, args[0])
	}
	return r
}

// notes TEXT ARGS... runs the program, which must end with status 0 and have TEXT on standard error. Where TEXT is empty nothing may be there.
func scriptNotes(ts *testscript.TestScript, neg bool, args []string) {
	r := shown(ts, runScript(context.Background(), ts, args[1:], nil))
	if has := strings.Contains(r.stderr, unescape(args[0])); r.status != exitDone || has == neg || args[0] == "" && r.stderr != "" {
		ts.Fatalf("exit status %d, want a note %q: %v", r.status, args[0], !neg)
	}
}

// interrupt TEXT N ARGS... interrupts the program when it has said TEXT N times, and it must end with status 130.
func scriptInterrupt(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	if n == 0 {
		cancel()
	}
	r := shown(ts, runScript(ctx, ts, args[2:], func(stderr string) {
		if strings.Count(stderr, args[0]) >= n {
			cancel()
		}
	}))
	if r.status != exitInterrupted {
		ts.Fatalf("exit status %d", r.status)
	}
}

// lengthen TEXT FILE ARGS... appends a byte to FILE when the program has said TEXT, and it must end with status 1.
func scriptLengthen(ts *testscript.TestScript, _ bool, args []string) {
	lengthen := sync.OnceFunc(func() {
		file, err := os.OpenFile(ts.MkAbs(args[1]), os.O_APPEND|os.O_WRONLY, 0)
		ts.Check(err)
		_, err = file.WriteString("\n")
		ts.Check(errors.Join(err, file.Close()))
	})
	r := shown(ts, runScript(context.Background(), ts, args[2:], func(stderr string) {
		if strings.Contains(stderr, args[0]) {
			lengthen()
		}
	}))
	if r.status != exitFailed {
		ts.Fatalf("exit status %d", r.status)
	}
}

func unescape(text string) string { return strings.ReplaceAll(text, `\n`, "\n") }

var spaces = regexp.MustCompile(` +`)

// has FILE TEXT... fails unless a file, stdout or stderr has each text, or none behind "!". Spaces in a row count as one.
func scriptHas(ts *testscript.TestScript, neg bool, args []string) {
	text := spaces.ReplaceAllString(ts.ReadFile(args[0]), " ")
	for _, want := range args[1:] {
		if strings.Contains(text, spaces.ReplaceAllString(unescape(want), " ")) == neg {
			ts.Fatalf("%q is in %s: %v\n%.4000s", want, args[0], neg, text)
		}
	}
}
