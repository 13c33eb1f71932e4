package envtest

import (
	"context"
	"errors"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// guarded is the label of objects that the webhooks are called for.
const guarded = "envtest.example.com/guarded"

// guard sets an annotation, and refuses what is marked as bad.
type guard struct{}

func (guard) Default(_ context.Context, object *corev1.ConfigMap) error {
	metav1.SetMetaDataAnnotation(&object.ObjectMeta, "seen", "yes")
	return nil
}

func (guard) ValidateCreate(_ context.Context, object *corev1.ConfigMap) (admission.Warnings, error) {
	if object.Data["bad"] != "" {
		return nil, errors.New("it is bad")
	}
	return nil, nil
}

func (guard guard) ValidateUpdate(ctx context.Context, _, object *corev1.ConfigMap) (admission.Warnings, error) {
	return guard.ValidateCreate(ctx, object)
}

func (guard) ValidateDelete(context.Context, *corev1.ConfigMap) (admission.Warnings, error) {
	return nil, nil
}

// to is a webhook behind a Service, as manifests have it; envtest puts the address of this process in its place.
func to(path string) admissionv1.WebhookClientConfig {
	return admissionv1.WebhookClientConfig{
		Service: &admissionv1.ServiceReference{Name: "webhook", Namespace: "default", Path: ptr.To(path)},
	}
}

func rules() []admissionv1.RuleWithOperations {
	return []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
}

func selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{guarded: "yes"}}
}

func mutating() []*admissionv1.MutatingWebhookConfiguration {
	return []*admissionv1.MutatingWebhookConfiguration{{
		ObjectMeta: metav1.ObjectMeta{Name: "guard"},
		Webhooks: []admissionv1.MutatingWebhook{{
			Name: "mutate.example.com", ClientConfig: to("/mutate--v1-configmap"), Rules: rules(), ObjectSelector: selector(),
			SideEffects: ptr.To(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		}},
	}}
}

func validating() []*admissionv1.ValidatingWebhookConfiguration {
	return []*admissionv1.ValidatingWebhookConfiguration{{
		ObjectMeta: metav1.ObjectMeta{Name: "guard"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "validate.example.com", ClientConfig: to("/validate--v1-configmap"), Rules: rules(), ObjectSelector: selector(),
			SideEffects: ptr.To(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		}},
	}}
}

func TestWebhooksThatEnvtestInstalledAreCalled(t *testing.T) {
	in, ns := typed(t, config), namespace(t)
	made := func(name string, data map[string]string) *corev1.ConfigMap {
		meta := metav1.ObjectMeta{Name: name, Namespace: ns, Labels: map[string]string{guarded: "yes"}}
		return &corev1.ConfigMap{ObjectMeta: meta, Data: data}
	}
	good := made("good", map[string]string{"k": "v"})
	must(t, in.Create(within(t), good))
	equal(t, "the annotation", good.Annotations["seen"], "yes")
	err := in.Create(within(t), made("bad", map[string]string{"bad": "yes"}))
	if err == nil || !strings.Contains(err.Error(), `admission webhook "validate.example.com" denied the request: it is bad`) {
		t.Errorf("the refusal: %v", err)
	}
	good.Data["bad"] = "yes"
	if err := in.Update(within(t), good); err == nil {
		t.Error("an update was not refused")
	}
	other := made("other", nil)
	other.Labels = nil
	must(t, in.Create(within(t), other, client.FieldOwner("test")))
	equal(t, "annotations of an object that is not selected", len(other.Annotations), 0)
}
