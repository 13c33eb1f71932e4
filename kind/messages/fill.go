package main

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// measure says how much of an object is there.
type measure int

const (
	// nothing: what is no pointer, list or map is zero.
	nothing measure = iota
	// zeroes: pointers lead to zeroes, lists and maps have one empty element.
	zeroes
	// everything: every field is there, lists and maps have two elements.
	everything
)

// depth is how far structs are filled: the inner ones have vectors of their own.
const depth = 2

// fill fills an object. The same type gives the same object.
type fill struct {
	measure measure
	count   int64
	above   []reflect.Type
}

func (fill *fill) value(value reflect.Value) {
	if fill.measure == nothing {
		return
	}
	if fill.measure == everything && fill.special(value) {
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		// Types that hold themselves end here.
		if !slices.Contains(fill.above, value.Type().Elem()) {
			value.Set(reflect.New(value.Type().Elem()))
			fill.value(value.Elem())
		}
	case reflect.Struct:
		fill.fields(value)
	case reflect.Slice:
		fill.list(value)
	case reflect.Map:
		fill.entries(value)
	default:
		if fill.measure == everything {
			fill.scalar(value)
		}
	}
}

func (fill *fill) fields(value reflect.Value) {
	if scalars[qualified(value.Type())] != "" {
		// Nothing is to be read from an empty text.
		if raw := value.FieldByName("Raw"); raw.IsValid() {
			raw.SetBytes([]byte("null"))
		}
		return
	}
	if len(fill.above) == depth {
		return
	}
	fill.above = append(fill.above, value.Type())
	for i := range value.NumField() {
		if value.Type().Field(i).Tag.Get("protobuf") != "" {
			fill.value(value.Field(i))
		}
	}
	fill.above = fill.above[:len(fill.above)-1]
}

func (fill *fill) list(value reflect.Value) {
	below := value.Type().Elem()
	if slices.Contains(fill.above, below) {
		return
	}
	if below.Kind() == reflect.Uint8 {
		text := ""
		if fill.measure == everything {
			text = "\x00\xff" + fill.text()
		}
		value.SetBytes([]byte(text))
		return
	}
	for range fill.measure {
		element := reflect.New(below).Elem()
		fill.value(element)
		value.Set(reflect.Append(value, element))
	}
}

func (fill *fill) entries(value reflect.Value) {
	if slices.Contains(fill.above, value.Type().Elem()) {
		return
	}
	value.Set(reflect.MakeMap(value.Type()))
	for range fill.measure {
		key, element := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
		if fill.measure == everything {
			key.SetString(fill.text())
		}
		fill.value(element)
		value.SetMapIndex(key, element)
	}
}

func (fill *fill) scalar(value reflect.Value) {
	switch value.Kind() {
	case reflect.Bool:
		value.SetBool(true)
	case reflect.String:
		value.SetString(fill.text())
	case reflect.Float64:
		fill.count++
		value.SetFloat(float64(fill.count) + 0.25)
	default:
		fill.count++
		// Every third is negative, every fifth large.
		number := fill.count
		if number%5 == 0 {
			number += 1 << 30
		}
		if number%3 == 0 {
			number = -number
		}
		value.SetInt(number)
	}
}

// special fills types whose JSON is not that of their fields.
func (fill *fill) special(value reflect.Value) bool {
	fill.count++
	moment := time.Unix(1_700_000_000+fill.count*86_401, fill.count*1_001_000).UTC()
	switch scalars[qualified(value.Type())] {
	case "quantity":
		forms := []string{"%dm", "%dMi", "%d", "-%dk", "%d.5Gi"}
		text := fmt.Sprintf(forms[fill.count%int64(len(forms))], fill.count)
		value.Set(reflect.ValueOf(resource.MustParse(text)))
	case "duration":
		value.Set(reflect.ValueOf(metav1.Duration{Duration: time.Duration(fill.count) * 1_234_567_891}))
	case "microTime":
		value.Set(reflect.ValueOf(metav1.NewMicroTime(moment)))
	case "time":
		value.Set(reflect.ValueOf(metav1.NewTime(moment)))
	case "intOrString":
		either := intstr.FromInt32(int32(fill.count))
		if fill.count%2 == 0 {
			either = intstr.FromString(fmt.Sprintf("%d%%", fill.count))
		}
		value.Set(reflect.ValueOf(either))
	case "json":
		value.FieldByName("Raw").SetBytes(fmt.Appendf(nil, `{"f:x":{"n":%d,"l":[null,1.5,"é"]}}`, fill.count))
	default:
		return false
	}
	return true
}

func (fill *fill) text() string {
	fill.count++
	return fmt.Sprintf("é%d", fill.count)
}
