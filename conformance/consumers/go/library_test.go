package broadcasting

// The library to judge. The judge in broadcasting_test.go knows of the library only what this file declares.

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"example.org/broadcasting/naive"
)

const rules = "numpy" // the rule set that it follows

// Refused is what the library panics with if it refuses a request. Any other panic counts as a crash.
type Refused = naive.Refused

// run returns the library's answer to the request in a case: an array with DType, Shape and, in row-major order,
// Values(). It skips the test if the library cannot express the request.
func run(t *testing.T, c Case) *naive.Array {
	if c.Operation == "gradient" || strings.Contains(fmt.Sprint(c.Expression), "power") {
		t.Skip("the library has no gradients and no power")
	}
	operands := map[string]*naive.Array{}
	for _, o := range c.Operands {
		if !naive.HasDType(o.DType) {
			t.Skip("the library has no ", o.DType)
		}
		buffer := []any{}
		for _, text := range o.Values {
			buffer = append(buffer, literal(o.DType, text))
		}
		operands[o.Name] = naive.New(o.DType, o.Shape, buffer, o.Strides, o.Offset)
	}
	if c.Operation == "broadcast" {
		return naive.BroadcastTo(operands[c.Operands[0].Name], c.TargetShape)
	}
	return evaluate(c.Expression, operands)
}

// evaluate takes the name of an operand, or a list of a function and its arguments: ["add", "a", ["exp", "b"]].
func evaluate(expression any, operands map[string]*naive.Array) *naive.Array {
	if name, isName := expression.(string); isName {
		return operands[name]
	}
	list, arguments := expression.([]any), []*naive.Array{}
	for _, argument := range list[1:] {
		arguments = append(arguments, evaluate(argument, operands))
	}
	return naive.Apply(list[0].(string), arguments...)
}

// literal reads an element of Values: a number, a bool or a string ("nan", "inf", "-inf", "-0.0", and integers beyond
// 2^53). The judge compares it with an element of the answer. Both are a float64 (for every float dtype: it holds all
// their values), an int64 or a bool.
func literal(dtype string, text json.RawMessage) (value any) {
	var err error
	switch number := strings.Trim(string(text), `"`); {
	case dtype == "bool":
		value, err = strconv.ParseBool(number)
	case strings.Contains(dtype, "f"):
		value, err = strconv.ParseFloat(number, 64)
	default:
		value, err = strconv.ParseInt(number, 10, 64)
	}
	if err != nil {
		panic(err)
	}
	return value
}
