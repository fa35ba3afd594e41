package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"halfspace/model"
)

// interrupt runs a command line that is interrupted once it has printed that many lines of progress. It returns the standard error.
func interrupt(t *testing.T, lines int, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout strings.Builder
	stderr := &cancelling{cancel: cancel, text: "training", left: lines}
	if status := run(ctx, append(args, "--progress", "always"), &stdout, stderr); status != exitInterrupted {
		t.Fatalf("halfspace %s: status %d: %s", strings.Join(args, " "), status, stderr.String())
	}
	return stderr.String()
}

// TestCheckpoint: an interrupted training goes on with --resume and writes the model and the receipt of one that wasn't interrupted. It
// refuses other rows, other options, and to begin anew over its checkpoints. Once it is finished it writes the model again.
func TestCheckpoint(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	data, folder := noisy(t, "20000"), in("folder")
	command20 := func(model string, more ...string) []string {
		return append([]string{"train", data, "--label", "label", "--algo", "averaged", "--order", "shuffle", "--epochs", "3000", "--out", in(model)}, more...)
	}
	saving := func(more ...string) []string {
		return append(command20("m.json"), append([]string{"--checkpoint", folder}, more...)...)
	}
	succeed(t, command20("whole.json", "--receipt", in("whole.r"))...)
	last := interrupt(t, 2, saving("--checkpoint-every", "3")...)
	if want := "halfspace: interrupted: " + in("m.json") + " has the weights so far; " + folder + " has a checkpoint, from which --resume goes on\n"; !strings.HasSuffix(last, want) {
		t.Errorf("after an interrupt: %q, want %q", last, want)
	}
	onlyFilesOf(t, folder, 2)
	refused(t, "checkpoints of a training that didn't finish: add --resume, or name an empty folder", saving()...)
	refused(t, "--eta is 0.5, and was 1 before: change that back, or name an empty folder", saving("--resume", "--eta", "0.5")...)
	refused(t, "--standardize is true, and was false before", saving("--resume", "--standardize")...)
	rows := data
	data = noisy(t, "20001")
	refused(t, "the fingerprint of the rows is ", saving("--resume")...)
	data = rows
	interrupt(t, 2, saving("--resume", "--workers", "1")...)
	report := decode(t, saving("--resume", "--json", "--receipt", in("r.json"))...)
	if at, _ := report["resumed_at"].(float64); at <= 0 || at >= report["visits"].(float64) {
		t.Errorf("resumed at %v", report["resumed_at"])
	}
	same := func(what string) {
		t.Helper()
		whole, err := os.ReadFile(in("whole.json"))
		if err != nil {
			t.Fatal(err)
		}
		if m, err := os.ReadFile(in("m.json")); err != nil || !bytes.Equal(m, whole) {
			t.Errorf("%s: another model (%v)", what, err)
		}
	}
	same("resumed")
	receipts := [2]*model.Receipt{}
	for i, name := range []string{"whole.r", "r.json"} {
		r, err := model.LoadReceipt(in(name))
		if err != nil {
			t.Fatal(err)
		}
		r.Machine = model.Machine{}
		receipts[i] = r
	}
	if !reflect.DeepEqual(receipts[0], receipts[1]) || len(receipts[0].Epochs[0].Weights) != 3000 {
		t.Error("another receipt")
	}
	if err := os.Remove(in("m.json")); err != nil {
		t.Fatal(err)
	}
	if text := succeed(t, saving("--resume")...); !strings.Contains(text, "resumed") {
		t.Errorf("the report doesn't say that the training was resumed:\n%s", text)
	}
	same("finished")
	if text := interrupt(t, 1, saving()...); strings.Contains(text, "goes on after") {
		t.Errorf("a new training was resumed: %s", text)
	}
}

// refused fails unless a command line fails with an error that has a text.
func refused(t *testing.T, text string, args ...string) {
	t.Helper()
	if status, _, stderr := command(args...); status == exitDone || !strings.Contains(stderr, text) {
		t.Errorf("halfspace %s: status %d, %q; want an error with %q", strings.Join(args, " "), status, stderr, text)
	}
}

// onlyFilesOf fails unless a folder has n files.
func onlyFilesOf(t *testing.T, dir string, n int) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != n {
		t.Errorf("%v in %s (%v)", entries, dir, err)
	}
}

// TestCheckpointOptions: options that make no sense are wrong usage, and a folder without checkpoints is where a training begins.
func TestCheckpointOptions(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	for _, c := range []struct{ options, want string }{
		{"--resume", "--resume without --checkpoint"},
		{"--checkpoint-every 3", "--checkpoint-every without --checkpoint"},
		{"--checkpoint DIR --checkpoint-every 0", "use a time such as 60s"},
		{"--checkpoint DIR --checkpoint-every -1s", "use a time such as 60s"},
		{"--checkpoint DIR --checkpoint-every 1ns", "a second at least"},
		{"--checkpoint DIR --checkpoint-every soon", "use a time such as 60s"},
		{"--checkpoint " + iris, "name another folder"},
	} {
		refused(t, c.want, append([]string{"train", iris, "--label", "species"}, strings.Fields(strings.ReplaceAll(c.options, "DIR", folder))...)...)
	}
	if _, _, stderr := command("train", iris, "--label", "species", "--checkpoint", folder, "--resume"); !strings.Contains(stderr, "has no checkpoint: the training begins at the start") {
		t.Errorf("%q", stderr)
	}
}
