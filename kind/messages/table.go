package main

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// scalars are the types of one word whose JSON is not that of their fields, or that have no fields.
var scalars = map[string]string{
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                 "quantity",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                 "duration",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                 "json",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                "microTime",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                     "time",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                  "json",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":               "intOrString",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON": "json",
}

// unions are messages of which only one field is seen in JSON: the last that is there.
var unions = []string{"JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"}

var kindsOfGo = map[reflect.Kind]string{
	reflect.Bool: "bool", reflect.Float64: "double", reflect.Int32: "int32", reflect.Int64: "int64", reflect.String: "string",
}

// walk finds the messages that kinds lead to.
type walk struct {
	lines map[string]string
	types map[string]reflect.Type
	open  []reflect.Type
}

// table prints the messages of the kinds, in order of their names:
//
//	name[|] field…      "|" for a union
//	field: number:json[=Go][*][!]:type
//
// An empty JSON name says that the fields stand in the object itself. Go's name stands where it is not JSON's with a
// capital. "*": absence is told apart from zero. "!": JSON has the field even if it is empty. Types: words, definitions
// (".X" in the same package), "[]T", "{}T" (a map of texts to T); "texts" is a message whose field 1 is a list of texts.
func table(out io.Writer, kinds []kind) error {
	walk, err := walked(kinds)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(walk.lines)) {
		if _, err := fmt.Fprintf(out, "%s%s\n", name, walk.lines[name]); err != nil {
			return err
		}
	}
	return nil
}

// walked is the walk from kinds to all messages.
func walked(kinds []kind) (*walk, error) {
	scheme, err := known()
	if err != nil {
		return nil, err
	}
	walk := &walk{lines: map[string]string{}, types: map[string]reflect.Type{}}
	for _, kind := range kinds {
		if found := typeOf(scheme, kind); found != nil {
			if name := definition(found); name != kind.definition {
				return nil, fmt.Errorf("%v is called %s", kind, name)
			}
			walk.open = append(walk.open, found)
		}
	}
	for len(walk.open) > 0 {
		next := walk.open[len(walk.open)-1]
		walk.open = walk.open[:len(walk.open)-1]
		if err := walk.message(next); err != nil {
			return nil, err
		}
	}
	return walk, nil
}

func (walk *walk) message(message reflect.Type) error {
	name := definition(message)
	if _, done := walk.lines[name]; done {
		return nil
	}
	var line strings.Builder
	if slices.Contains(unions, message.Name()) {
		line.WriteString("|")
	} else if _, own := reflect.PointerTo(message).MethodByName("MarshalJSON"); own {
		return fmt.Errorf("%s writes its JSON itself", name)
	}
	walk.lines[name], walk.types[name] = "", message
	for i := range message.NumField() {
		field, err := walk.field(message, message.Field(i))
		if err != nil {
			return fmt.Errorf("%s.%s: %w", name, message.Field(i).Name, err)
		}
		line.WriteString(field)
	}
	walk.lines[name] = line.String()
	return nil
}

func (walk *walk) field(message reflect.Type, field reflect.StructField) (string, error) {
	tag, ok := field.Tag.Lookup("protobuf")
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	if !ok && options == "inline" && field.Type.Name() == "TypeMeta" {
		return "", nil
	}
	parts := strings.Split(tag, ",")
	if len(parts) < 3 {
		return "", fmt.Errorf("no protobuf tag")
	}
	if name == "" && options != "inline" {
		if !slices.Contains(unions, message.Name()) {
			return "", fmt.Errorf("no name in JSON")
		}
		name = field.Name
	}
	if name != "" && field.Name != strings.ToUpper(name[:1])+name[1:] {
		name += "=" + field.Name
	}
	found, flags := field.Type, ""
	if found.Kind() == reflect.Pointer {
		found, flags = found.Elem(), "*"
	}
	if written(field.Type, options) {
		flags += "!"
	}
	word, err := walk.word(message, found)
	return fmt.Sprintf(" %s:%s%s:%s", parts[1], name, flags, word), err
}

// written says whether JSON has a field that is empty.
func written(found reflect.Type, options string) bool {
	asked := strings.Split(options, ",")
	if options == "inline" || slices.Contains(asked, "omitzero") {
		return false
	}
	return !slices.Contains(asked, "omitempty") || found.Kind() == reflect.Struct
}

// word is a type in the words of the table. How it lies on the wire follows from it, as in the code that Kubernetes generates;
// tags name other wire types here and there.
func (walk *walk) word(message, found reflect.Type) (string, error) {
	if word, ok := scalars[qualified(found)]; ok {
		return word, nil
	}
	switch found.Kind() {
	case reflect.Struct:
		walk.open = append(walk.open, found)
		name := definition(found)
		if found.PkgPath() == message.PkgPath() {
			name = name[strings.LastIndex(name, "."):]
		}
		return name, nil
	case reflect.Slice:
		if found.Elem().Kind() == reflect.Uint8 {
			return "bytes", nil
		}
		below, err := walk.word(message, found.Elem())
		if reflect.PointerTo(found).Implements(messageType) {
			if below != "string" {
				return "", fmt.Errorf("%s is not provided for", found)
			}
			return "texts", nil
		}
		return "[]" + below, err
	case reflect.Map:
		if found.Key().Kind() != reflect.String {
			return "", fmt.Errorf("a map of %s", found.Key())
		}
		below, err := walk.word(message, found.Elem())
		return "{}" + below, err
	}
	if word, ok := kindsOfGo[found.Kind()]; ok {
		return word, nil
	}
	return "", fmt.Errorf("%s is not provided for", found)
}

func qualified(found reflect.Type) string { return found.PkgPath() + "." + found.Name() }

// definition is what OpenAPI calls a type: io.k8s.api.core.v1.Pod.
func definition(found reflect.Type) string {
	path := strings.Split(qualified(found), "/")
	domain := strings.Split(path[0], ".")
	slices.Reverse(domain)
	path[0] = strings.Join(domain, ".")
	return strings.Join(path, ".")
}
