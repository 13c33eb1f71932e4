package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// vectors prints objects as Go writes them, in hexadecimal and in JSON: of each message one with every field, and of each
// kind, in the envelope that travels, one that is empty and one in which everything is there and empty.
func vectors(out io.Writer, kinds []kind) error {
	walk, err := walked(kinds)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(walk.types)) {
		object := reflect.New(walk.types[name])
		fill := fill{measure: everything}
		fill.value(object.Elem())
		encoded, err := object.Interface().(message).Marshal()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := vector(out, name, encoded, object.Interface()); err != nil {
			return err
		}
	}
	scheme, err := known()
	if err != nil {
		return err
	}
	codec := protobuf.NewSerializer(scheme, scheme)
	for _, kind := range kinds {
		found := typeOf(scheme, kind)
		if found == nil {
			continue
		}
		// Events of a watch do not keep their own kind; nobody sends one alone.
		if _, told := found.FieldByName("TypeMeta"); !told {
			continue
		}
		for _, measure := range []measure{nothing, zeroes} {
			object := reflect.New(found)
			fill := fill{measure: measure}
			fill.value(object.Elem())
			if err := enveloped(out, codec, kind, object.Interface().(runtime.Object)); err != nil {
				return fmt.Errorf("%v: %w", kind, err)
			}
		}
	}
	return nil
}

func enveloped(out io.Writer, codec runtime.Encoder, kind kind, object runtime.Object) error {
	version := schema.GroupVersion{Group: kind.group, Version: kind.version}
	object.GetObjectKind().SetGroupVersionKind(version.WithKind(kind.kind))
	var encoded bytes.Buffer
	if err := codec.Encode(object, &encoded); err != nil {
		return err
	}
	return vector(out, strings.Join([]string{kind.group, kind.version, kind.kind}, "/"), encoded.Bytes(), object)
}

func vector(out io.Writer, name string, encoded []byte, object any) error {
	told, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err = fmt.Fprintf(out, "%s %x %s\n", name, encoded, told)
	return err
}
