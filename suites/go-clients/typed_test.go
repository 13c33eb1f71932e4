package clients

import (
	"context"
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

const (
	protobuf = "application/vnd.kubernetes.protobuf"
	json     = "application/json"
)

func deployment(namespace string) *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: namespace, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](0),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       podSpec(),
			},
		},
	}
}

func TestCreateUpdateAndConflict(t *testing.T) {
	in, record := typed(t)
	made := deployment(namespace(t, in))
	must(t, in.Create(within(t), made))
	if made.UID == "" || made.Spec.RevisionHistoryLimit == nil {
		t.Fatalf("the answer was not read: %v", made)
	}
	equal(t, "containers", len(made.Spec.Template.Spec.Containers), 2)
	limits := made.Spec.Template.Spec.Containers[0].Resources.Limits
	equal(t, "the limit", limits.Memory().String(), "64Mi")
	wanted := podSpec().Containers[0].Env
	if !reflect.DeepEqual(made.Spec.Template.Spec.Containers[0].Env, wanted) {
		t.Errorf("env: got %v, want %v", made.Spec.Template.Spec.Containers[0].Env, wanted)
	}

	stale := made.DeepCopy()
	made.Spec.Paused = true
	must(t, in.Update(within(t), made))
	equal(t, "the generation", made.Generation, 2)
	if err := in.Update(within(t), stale); !apierrors.IsConflict(err) {
		t.Errorf("a stale update: %v", err)
	}
	if err := in.Create(within(t), deployment(made.Namespace)); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a second one: %v", err)
	}
	rehearsed := made.DeepCopy()
	rehearsed.Spec.Paused = false
	must(t, in.Update(within(t), rehearsed, client.DryRunAll, client.FieldOwner("rehearsal")))
	must(t, in.Get(within(t), client.ObjectKeyFromObject(made), made))
	equal(t, "paused, after a dry run", made.Spec.Paused, true)
	invalid := deployment(made.Namespace)
	invalid.Name, invalid.Spec.Selector.MatchLabels = "other", map[string]string{"app": "other"}
	if err := in.Create(within(t), invalid); !apierrors.IsInvalid(err) {
		t.Errorf("a selector that selects others: %v", err)
	}

	made.Status.ObservedGeneration, made.Spec.Paused = made.Generation, false
	must(t, in.Status().Update(within(t), made))
	must(t, in.Get(within(t), client.ObjectKeyFromObject(made), made))
	equal(t, "the observed generation", made.Status.ObservedGeneration, 2)
	equal(t, "paused, after an update of the status", made.Spec.Paused, true)
	for _, method := range []string{"POST", "PUT"} {
		if record.count(method, protobuf) == 0 || record.count(method, json) != 0 {
			t.Errorf("%s was not sent as protobuf alone: %v", method, record.bodies)
		}
	}
}

func TestPatches(t *testing.T) {
	in, _ := typed(t)
	made := deployment(namespace(t, in))
	must(t, in.Create(within(t), made))

	before := made.DeepCopy()
	made.Spec.Template.Spec.Containers = made.Spec.Template.Spec.Containers[1:]
	made.Annotations = map[string]string{"a": "1"}
	must(t, in.Patch(within(t), made, client.StrategicMergeFrom(before)))
	equal(t, "containers after a strategic merge", len(made.Spec.Template.Spec.Containers), 1)

	before = made.DeepCopy()
	made.Annotations = nil
	made.Finalizers = []string{"go-clients.example.com/held"}
	must(t, in.Patch(within(t), made, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
	equal(t, "annotations after a merge", len(made.Annotations), 0)
	stale := before.DeepCopy()
	stale.Labels = map[string]string{"late": "yes"}
	lock := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := in.Patch(within(t), stale, lock); !apierrors.IsConflict(err) {
		t.Errorf("a stale patch: %v", err)
	}

	replicas := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/replicas","value":2}]`))
	must(t, in.Patch(within(t), made, replicas))
	equal(t, "replicas after a JSON patch", *made.Spec.Replicas, 2)

	before = made.DeepCopy()
	made.Status.Replicas = 7
	must(t, in.Status().Patch(within(t), made, client.MergeFrom(before)))
	equal(t, "replicas in the status", made.Status.Replicas, 7)

	applied := func(owner string) error {
		wanted := applycorev1.ConfigMap("applied", made.Namespace).WithData(map[string]string{"owner": owner})
		return in.Apply(within(t), wanted, client.FieldOwner(owner))
	}
	must(t, applied("one"))
	if err := applied("two"); !apierrors.IsConflict(err) {
		t.Errorf("another manager's field: %v", err)
	}
	must(t, in.Get(within(t), client.ObjectKeyFromObject(made), made))
	made.Finalizers = nil
	must(t, in.Update(within(t), made))
}

func TestDeletionWithOptions(t *testing.T) {
	in, record := typed(t)
	made := deployment(namespace(t, in))
	must(t, in.Create(within(t), made))
	for name, options := range map[string]client.DeleteOption{
		"uid":     client.Preconditions{UID: ptr.To(types.UID("nobody"))},
		"version": client.Preconditions{ResourceVersion: ptr.To("1")},
	} {
		if err := in.Delete(within(t), made.DeepCopy(), options); !apierrors.IsConflict(err) {
			t.Errorf("a deletion of another %s: %v", name, err)
		}
	}
	must(t, in.Delete(within(t), made.DeepCopy(), client.DryRunAll))
	must(t, in.Get(within(t), client.ObjectKeyFromObject(made), made))
	foreground := client.PropagationPolicy(metav1.DeletePropagationForeground)
	right := client.Preconditions{UID: &made.UID, ResourceVersion: &made.ResourceVersion}
	must(t, in.Delete(within(t), made.DeepCopy(), foreground, right))
	if err := in.Get(within(t), client.ObjectKeyFromObject(made), made); err == nil {
		// Without a garbage collector it waits for its dependents for ever.
		equal(t, "finalizers", reflect.DeepEqual(made.Finalizers, []string{metav1.FinalizerDeleteDependents}), true)
		made.Finalizers = nil
		must(t, in.Update(within(t), made))
	}
	eventually(t, "the deployment is gone", func(ctx context.Context) (bool, error) {
		err := in.Get(ctx, client.ObjectKeyFromObject(made), made)
		return apierrors.IsNotFound(err), err
	})

	for _, name := range []string{"a", "b", "c"} {
		labels := map[string]string{"kept": map[bool]string{true: "yes", false: "no"}[name == "c"]}
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: made.Namespace, Labels: labels}}
		secret.Data = map[string][]byte{"bytes": {0, 0xff, 0x80}, "empty": {}}
		must(t, in.Create(within(t), secret))
		equal(t, "bytes", string(secret.Data["bytes"]), "\x00\xff\x80")
	}
	all := client.InNamespace(made.Namespace)
	must(t, in.DeleteAllOf(within(t), &corev1.Secret{}, all, client.MatchingLabels{"kept": "no"}))
	left := &corev1.SecretList{}
	must(t, in.List(within(t), left, all))
	equal(t, "secrets left", len(left.Items), 1)
	equal(t, "the secret left", left.Items[0].Name, "c")
	equal(t, "deletions that are no protobuf", record.count("DELETE", json), 0)
	if record.count("DELETE", protobuf) < 5 {
		t.Errorf("deletions were not sent as protobuf: %v", record.bodies)
	}
}

func TestCustomResources(t *testing.T) {
	must(t, apiutil.AddToProtobufScheme(apiextensionsv1.AddToScheme))
	in, record := typed(t)
	crd := definition()
	must(t, client.IgnoreAlreadyExists(in.Create(within(t), crd)))
	equal(t, "definitions that are protobuf", record.count("POST", protobuf), 1)
	widget := &Widget{ObjectMeta: metav1.ObjectMeta{Name: "w", Namespace: namespace(t, in)}}
	eventually(t, "widgets are served", func(ctx context.Context) (bool, error) {
		err := in.Create(ctx, widget.DeepCopyObject().(*Widget))
		return err == nil || apierrors.IsAlreadyExists(err), err
	})
	must(t, in.Get(within(t), client.ObjectKeyFromObject(widget), widget))
	equal(t, "the default", widget.Spec.Size, 3)
	widget.Spec.Size = -1
	if err := in.Update(within(t), widget.DeepCopyObject().(*Widget)); !apierrors.IsInvalid(err) {
		t.Errorf("less than the minimum: %v", err)
	}
	before := widget.DeepCopyObject().(*Widget)
	widget.Status.ObservedGeneration = widget.Generation
	must(t, in.Status().Patch(within(t), widget, client.MergeFrom(before)))
	equal(t, "the status", widget.Status.ObservedGeneration, 1)
	must(t, in.Delete(within(t), widget, client.Preconditions{UID: &widget.UID}))
	must(t, in.Delete(within(t), crd))
}
