package console

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/internal/blob"
)

// checkLocal returns an error if one of the paths is an address, such as s3://.... verb is "read", "written" or
// "streamed".
func checkLocal(verb string, paths ...string) error {
	for _, p := range paths {
		scheme := blob.Scheme(p)
		switch {
		case scheme == "":
		case strings.EqualFold(scheme, "file"):
			return Usagef("%s is an address, not a path: leave out %s://", p, scheme)
		case verb == "written":
			return Usagef("%s: only local files are written: write one, and copy it there", p)
		case verb == "streamed":
			return Usagef("%s: only local files are read: copy it here first, or write it to standard input and name -", p)
		default:
			return Usagef("%s: only local files are read: copy it here first", p)
		}
	}
	return nil
}

// CheckPaths returns an error if a path is an address, or if the data is a model.
func CheckPaths(cmd *cobra.Command, args []string) error {
	if err := checkData(cmd, args); err != nil {
		return err
	}
	for _, f := range []struct{ name, verb string }{{"model", "read"}, {"init", "read"}, {"out", "written"}, {"cache", "written"}, {"roc", "written"},
		{"c", "written"}, {"go", "written"}, {"liblinear", "written"}, {"onnx", "written"}, {"onnx-columns", "written"}} {
		flag := cmd.Flags().Lookup(f.name)
		if flag == nil {
			continue
		}
		paths, err := cmd.Flags().GetStringArray(f.name)
		if err != nil { // the flag takes one path
			paths = []string{flag.Value.String()}
		}
		if err := checkLocal(f.verb, paths...); err != nil {
			return err
		}
	}
	if cmd.Name() == "inspect" || cmd.Name() == "export" || cmd.Name() == "import" {
		return nil
	}
	return checkModels(args, cmd.Flags().Lookup("model") != nil)
}

// checkData returns an error if the data is an address that can't be read. In halfspace-beam, the verbs train, eval and
// predict read objects of stores.
func checkData(cmd *cobra.Command, args []string) error {
	if f := cmd.Flags().Lookup("validation"); f != nil {
		args = append(slices.Clone(args), f.Value.String())
	}
	onBeam := cmd.Name() == "train" || cmd.Name() == "eval" || cmd.Name() == "predict"
	for _, p := range args {
		_, err := blob.Of(p)
		if onBeam && err == nil {
			continue
		}
		if scheme := blob.Scheme(p); onBeam && (scheme == "gs" || scheme == "s3" || blob.Any()) {
			return Usagef("%s: %w", p, err)
		}
		if err := checkLocal("streamed", p); err != nil {
			return err
		}
	}
	return nil
}

// checkModels returns an error if the data is a model, or the output of check --json. applies tells whether the verb
// applies a model.
func checkModels(paths []string, applies bool) error {
	for _, p := range paths {
		switch kind := JSONKind(p); {
		case kind == "":
		case kind == "a model" && applies:
			return Usagef("%s is a model: use --model %s, and name the data", p, p)
		case kind == "a model":
			return Usagef("%s is a model: name the data, or use predict --model %s DATA", p, p)
		default:
			return Usagef("%s is %s: name the data, or use inspect %s", p, kind, p)
		}
	}
	return nil
}
