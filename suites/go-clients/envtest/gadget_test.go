package envtest

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
)

const group = "envtest.example.com"

// GadgetV1 is a custom resource in its first version.
type GadgetV1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GadgetSpecV1 `json:"spec,omitempty"`
}

// GadgetSpecV1 has a size.
type GadgetSpecV1 struct {
	Size int32 `json:"size,omitempty"`
}

// GadgetV2 is the same resource in the version that is stored.
type GadgetV2 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GadgetSpecV2 `json:"spec,omitempty"`
}

// GadgetSpecV2 calls the size a length.
type GadgetSpecV2 struct {
	Length int32 `json:"length,omitempty"`
}

// GadgetV2List is a list of them.
type GadgetV2List struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []GadgetV2 `json:"items"`
}

// DeepCopyObject is runtime.Object's.
func (gadget *GadgetV1) DeepCopyObject() runtime.Object {
	copied := *gadget
	copied.ObjectMeta = *gadget.ObjectMeta.DeepCopy()
	return &copied
}

// ConvertTo is conversion.Convertible's.
func (gadget *GadgetV1) ConvertTo(hub conversion.Hub) error {
	other := hub.(*GadgetV2)
	other.ObjectMeta, other.Spec.Length = gadget.ObjectMeta, gadget.Spec.Size
	return nil
}

// ConvertFrom is conversion.Convertible's.
func (gadget *GadgetV1) ConvertFrom(hub conversion.Hub) error {
	other := hub.(*GadgetV2)
	gadget.ObjectMeta, gadget.Spec.Size = other.ObjectMeta, other.Spec.Length
	return nil
}

// DeepCopyObject is runtime.Object's.
func (gadget *GadgetV2) DeepCopyObject() runtime.Object {
	copied := *gadget
	copied.ObjectMeta = *gadget.ObjectMeta.DeepCopy()
	return &copied
}

// Hub is conversion.Hub's.
func (gadget *GadgetV2) Hub() {}

// DeepCopyObject is runtime.Object's.
func (list *GadgetV2List) DeepCopyObject() runtime.Object {
	copied := *list
	copied.Items = make([]GadgetV2, len(list.Items))
	for i := range list.Items {
		copied.Items[i] = *list.Items[i].DeepCopyObject().(*GadgetV2)
	}
	return &copied
}

func addGadgets(scheme *runtime.Scheme) error {
	first, second := schema.GroupVersion{Group: group, Version: "v1"}, schema.GroupVersion{Group: group, Version: "v2"}
	scheme.AddKnownTypeWithName(first.WithKind("Gadget"), &GadgetV1{})
	scheme.AddKnownTypeWithName(second.WithKind("Gadget"), &GadgetV2{})
	scheme.AddKnownTypeWithName(second.WithKind("GadgetList"), &GadgetV2List{})
	metav1.AddToGroupVersion(scheme, first)
	metav1.AddToGroupVersion(scheme, second)
	return nil
}

// gadgets defines the resource; envtest adds the conversion webhook.
func gadgets() *apiextensionsv1.CustomResourceDefinition {
	version := func(name, field string, stored bool) apiextensionsv1.CustomResourceDefinitionVersion {
		number := apiextensionsv1.JSONSchemaProps{Type: "integer", Format: "int32"}
		spec := apiextensionsv1.JSONSchemaProps{
			Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{field: number},
		}
		return apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: stored,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec},
			}},
		}
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Kind: "Gadget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				version("v1", "size", false), version("v2", "length", true),
			},
		},
	}
}

func TestAConversionWebhookConvertsWhatIsStored(t *testing.T) {
	in, ns := typed(t, config), namespace(t)
	first := &GadgetV1{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: ns}, Spec: GadgetSpecV1{Size: 3}}
	must(t, in.Create(within(t), first))
	second := &GadgetV2{}
	must(t, in.Get(within(t), client.ObjectKeyFromObject(first), second))
	equal(t, "the length in v2", second.Spec.Length, 3)
	equal(t, "the uid in v2", second.UID, first.UID)
	second.Spec.Length = 4
	must(t, in.Update(within(t), second))
	must(t, in.Get(within(t), client.ObjectKeyFromObject(first), first))
	equal(t, "the size in v1", first.Spec.Size, 4)
	list := &GadgetV2List{}
	must(t, in.List(within(t), list, client.InNamespace(ns)))
	equal(t, "gadgets in the namespace", len(list.Items), 1)
}
