// Package broadcasting judges an array library by the broadcasting cases of this kit. Each case is a subtest, named by
// its id. This file is the judge; library_test.go translates a case into calls of the library. To judge your own
// library, rewrite library_test.go only.
//
//	go test -v                                    # the library in the directory naive
//	go test -v -run Test/numpy/zero               # some cases
//
// The cases are read from the directory in the environment variable BROADCHECK_JSON. By default, that is the directory
// json beside this file, which is embedded in the test binary, or else ../../json.
package broadcasting

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"testing"
)

type Case struct {
	ID, Rules, Operation, Convention string
	Expression                       any // the name of an operand, or a function and its arguments
	Operands                         []Array
	TargetShape                      []int `json:"target_shape"`
	Result                           Array
	Refusal                          struct{ Kind string }
}

type Array struct { // an operand or a result
	Name, DType    string
	Shape, Strides []int // with strides, it is a view of the buffer Values
	Offset         int   // in elements, like the strides
	Values         []json.RawMessage
	Admitted       map[int][]Entry // the elements of which more than the one in Values is right
}

type Entry struct{ Value, Lower, Upper json.RawMessage } // one value, or two bounds

// admits compares with one value to the bit, except that any NaN is NaN: only equal floats print the same.
func (e Entry) admits(dtype string, got any) bool {
	if e.Value != nil {
		return fmt.Sprint(got) == fmt.Sprint(literal(dtype, e.Value))
	}
	switch lower, upper := literal(dtype, e.Lower), literal(dtype, e.Upper); got := got.(type) {
	case float64:
		return lower.(float64) <= got && got <= upper.(float64)
	case int64:
		return lower.(int64) <= got && got <= upper.(int64)
	}
	return false
}

// judge returns what is wrong with the library's answer, or "".
func judge(t *testing.T, c Case) (wrong string) {
	defer func() {
		panicked, kind := recover(), c.Refusal.Kind
		refused, isRefusal := panicked.(*Refused)
		right := isRefusal && kind != "" && (kind == "any" || refused.Kind == "" || kind == refused.Kind)
		if panicked != nil && !right {
			wrong = fmt.Sprintf("refused or crashed: %v, expected %s%s", panicked, c.Result.DType, kind)
		}
	}()
	got, want := run(t, c), c.Result
	if c.Refusal.Kind != "" {
		return "not refused, expected " + c.Refusal.Kind
	}
	values := got.Values()
	if got.DType != want.DType || fmt.Sprint(got.Shape) != fmt.Sprint(want.Shape) || len(values) != len(want.Values) {
		return fmt.Sprintf("found %s %v, expected %s %v", got.DType, got.Shape, want.DType, want.Shape)
	}
	for i, value := range values {
		right := Entry{Value: want.Values[i]}.admits(want.DType, value)
		for _, entry := range want.Admitted[i] {
			right = right || entry.admits(want.DType, value)
		}
		if !right {
			return fmt.Sprintf("element %d is %v, expected %s or %s", i, value, want.Values[i], want.Admitted[i])
		}
	}
	return ""
}

//go:embed *
var beside embed.FS // this directory, whether it has a directory json or not

func cases(t *testing.T) (cases []Case) {
	kit, _ := fs.Sub(beside, "json")
	if directory := os.Getenv("BROADCHECK_JSON"); directory != "" {
		kit = os.DirFS(directory)
	} else if _, err := fs.Stat(kit, "."); err != nil {
		kit = os.DirFS("../../json")
	}
	files, _ := fs.Glob(kit, "*.json")
	more, _ := fs.Glob(kit, "[os]*/*.json") // optional and sweeps, but not extreme, where lengths may be strings
	for _, name := range append(files, more...) {
		var file struct{ Cases []Case }
		if text, err := fs.ReadFile(kit, name); err != nil || json.Unmarshal(text, &file) != nil {
			t.Fatal("cannot read ", name)
		}
		cases = append(cases, file.Cases...)
	}
	return cases
}

func Test(t *testing.T) {
	counts := map[string]int{}
	for _, c := range cases(t) {
		if c.Rules != rules {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			verdict := "skipped" // if run skips the test
			defer func() { counts[verdict]++ }()
			switch wrong := judge(t, c); {
			case c.Convention != "" && wrong != "": // implementations may differ
				verdict = "differ"
				t.Skip("differs from the convention ", c.Convention, ": ", wrong)
			case c.Convention != "":
				verdict = "agree"
			case wrong != "":
				verdict = "failed"
				t.Error(wrong)
			default:
				verdict = "passed"
			}
		})
	}
	t.Logf("%d passed, %d failed, %d skipped; conventions: %d agree, %d differ",
		counts["passed"], counts["failed"], counts["skipped"], counts["agree"], counts["differ"])
	if delete(counts, "skipped"); len(counts) == 0 {
		t.Error("no case was judged: set BROADCHECK_JSON to the kit's directory json")
	}
}
