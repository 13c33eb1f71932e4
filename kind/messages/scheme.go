package main

import (
	"fmt"
	"reflect"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// message is what generated code of protobuf can do.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

var messageType = reflect.TypeFor[message]()

// known is every Go type of a kind, by group, version and kind.
func known() (*runtime.Scheme, error) {
	all := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, apiextensions.AddToScheme, apiregistration.AddToScheme, metav1.AddMetaToScheme,
	} {
		if err := add(all); err != nil {
			return nil, fmt.Errorf("failed to register types: %w", err)
		}
	}
	// These are sent and answered in every group; discovery names them in the core group.
	core := schema.GroupVersion{Version: "v1"}
	all.AddKnownTypes(core, &metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{},
		&metav1.APIResourceList{})
	return all, nil
}

// typeOf is the Go type of a kind; nil for a kind that has no protobuf encoding.
func typeOf(scheme *runtime.Scheme, kind kind) reflect.Type {
	version := schema.GroupVersion{Group: kind.group, Version: kind.version}
	found, ok := scheme.KnownTypes(version)[kind.kind]
	if !ok || !reflect.PointerTo(found).Implements(messageType) {
		return nil
	}
	return found
}
