package clients

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const lease = "go-clients"

// mirror keeps for each ConfigMap a Secret of the same data, and says so in an annotation.
type mirror struct{ client.Client }

func (mirror mirror) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	source := &corev1.ConfigMap{}
	if err := mirror.Get(ctx, request.NamespacedName, source); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: source.Name, Namespace: source.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, mirror, secret, func() error {
		secret.Data = map[string][]byte{}
		for key, value := range source.Data {
			secret.Data[key] = []byte(value)
		}
		return controllerutil.SetControllerReference(source, secret, mirror.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	before := source.DeepCopy()
	metav1.SetMetaDataAnnotation(&source.ObjectMeta, "mirrored", secret.ResourceVersion)
	return ctrl.Result{}, mirror.Patch(ctx, source, client.MergeFrom(before))
}

// guard sets a label, and refuses what is marked as bad.
type guard struct{}

func (guard) Default(_ context.Context, object *corev1.ConfigMap) error {
	metav1.SetMetaDataLabel(&object.ObjectMeta, "guarded", "yes")
	return nil
}

func (guard) ValidateCreate(_ context.Context, object *corev1.ConfigMap) (admission.Warnings, error) {
	if object.Data["bad"] != "" {
		return nil, errors.New("it is bad")
	}
	return admission.Warnings{"seen"}, nil
}

func (guard guard) ValidateUpdate(ctx context.Context, _, object *corev1.ConfigMap) (admission.Warnings, error) {
	return guard.ValidateCreate(ctx, object)
}

func (guard) ValidateDelete(context.Context, *corev1.ConfigMap) (admission.Warnings, error) {
	return nil, nil
}

// running is a manager that runs until the test ends or it is stopped.
type running struct {
	ctrl.Manager
	stop context.CancelFunc
	done chan error
}

// start starts a manager whose webhooks listen at the address.
func start(t *testing.T, in, name string, listener net.Listener, folder string) *running {
	t.Helper()
	address := listener.Addr().(*net.TCPAddr)
	must(t, listener.Close())
	managed, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        known(t),
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{in: {}}},
		Metrics:                       server.Options{BindAddress: "0"},
		Controller:                    ctrlconfig.Controller{SkipNameValidation: ptr.To(true)},
		LeaderElection:                true,
		LeaderElectionID:              lease,
		LeaderElectionNamespace:       in,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 ptr.To(4 * time.Second),
		RenewDeadline:                 ptr.To(3 * time.Second),
		RetryPeriod:                   ptr.To(200 * time.Millisecond),
		WebhookServer:                 webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: address.Port, CertDir: folder}),
	})
	must(t, err)
	must(t, ctrl.NewControllerManagedBy(managed).Named(name).For(&corev1.ConfigMap{}).
		Owns(&corev1.Secret{}, builder.OnlyMetadata).
		Complete(mirror{managed.GetClient()}))
	must(t, ctrl.NewWebhookManagedBy(managed, &corev1.ConfigMap{}).WithDefaulter(guard{}).WithValidator(guard{}).Complete())
	ctx, stop := context.WithCancel(context.Background())
	running := &running{Manager: managed, stop: stop, done: make(chan error, 1)}
	go func() { running.done <- managed.Start(ctx) }()
	t.Cleanup(stop)
	return running
}

// ended waits for the end of a manager that was stopped.
func (running *running) ended(t *testing.T) {
	t.Helper()
	running.stop()
	select {
	case err := <-running.done:
		must(t, err)
	case <-time.After(patience):
		t.Fatal("the manager does not end")
	}
}

// register registers the webhooks of a manager for one namespace.
func register(t *testing.T, in client.Client, name, address string, ca []byte) {
	t.Helper()
	to := func(path string) admissionv1.WebhookClientConfig {
		return admissionv1.WebhookClientConfig{URL: ptr.To("https://" + address + path), CABundle: ca}
	}
	rules := []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	here := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: name}}
	meta := metav1.ObjectMeta{Name: name + ".example.com"}
	none := ptr.To(admissionv1.SideEffectClassNone)
	mutating := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: meta, Webhooks: []admissionv1.MutatingWebhook{{
		Name: "mutate.example.com", ClientConfig: to("/mutate--v1-configmap"), Rules: rules, NamespaceSelector: here,
		SideEffects: none, AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: ptr.To[int32](5),
	}}}
	validating := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: meta, Webhooks: []admissionv1.ValidatingWebhook{{
		Name: "validate.example.com", ClientConfig: to("/validate--v1-configmap"), Rules: rules, NamespaceSelector: here,
		SideEffects: none, AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: ptr.To[int32](5),
	}}}
	for _, object := range []client.Object{mutating, validating} {
		must(t, in.Create(within(t), object))
		t.Cleanup(func() { _ = in.Delete(context.Background(), object) })
	}
}

// loopback is a free address and a folder with a certificate for it.
func loopback(t *testing.T) (net.Listener, string, []byte) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	must(t, err)
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "tls.crt"), certificate, 0o600))
	must(t, os.WriteFile(filepath.Join(folder, "tls.key"), key, 0o600))
	return listener, folder, certificate
}

func TestAManagerReconcilesGuardsAndHandsOver(t *testing.T) {
	in, _ := typed(t)
	name := namespace(t, in)
	listener, folder, ca := loopback(t)
	address := listener.Addr().String()
	first := start(t, name, "first", listener, folder)
	listens(t, address)
	register(t, in, name, address, ca)

	bad := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "bad", Namespace: name}, Data: map[string]string{"bad": "yes"}}
	eventually(t, "the webhook refuses", func(ctx context.Context) (bool, error) {
		err := in.Create(ctx, bad.DeepCopy(), client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "it is bad"), err
	})
	guarded := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: name}, Data: map[string]string{"k": "v"}}
	eventually(t, "the webhook labels", func(ctx context.Context) (bool, error) {
		rehearsed := guarded.DeepCopy()
		err := in.Create(ctx, rehearsed, client.DryRunAll)
		return rehearsed.Labels["guarded"] == "yes", err
	})
	must(t, in.Create(within(t), guarded))
	equal(t, "the label", guarded.Labels["guarded"], "yes")
	mirrored(t, in, name, "v")
	cached := &corev1.SecretList{}
	eventually(t, "the cache has it", func(ctx context.Context) (bool, error) {
		err := first.GetClient().List(ctx, cached, client.InNamespace(name))
		return len(cached.Items) == 1, err
	})

	elected := &coordinationv1.Lease{}
	must(t, in.Get(within(t), client.ObjectKey{Namespace: name, Name: lease}, elected))
	holder := *elected.Spec.HolderIdentity
	spare, others, _ := loopback(t)
	second := start(t, name, "second", spare, others)
	select {
	case <-second.Elected():
		t.Fatal("two lead at once")
	case <-time.After(time.Second):
	}
	// The webhooks go with the first.
	for _, object := range []client.Object{&admissionv1.MutatingWebhookConfiguration{}, &admissionv1.ValidatingWebhookConfiguration{}} {
		object.SetName(name + ".example.com")
		must(t, in.Delete(within(t), object))
	}
	first.ended(t)
	select {
	case <-second.Elected():
	case <-time.After(patience):
		t.Fatal("nobody leads")
	}
	must(t, in.Get(within(t), client.ObjectKeyFromObject(elected), elected))
	if *elected.Spec.HolderIdentity == holder || *elected.Spec.LeaseTransitions == 0 {
		t.Errorf("the lease was not handed over: %v", elected.Spec)
	}
	eventually(t, "the object is changed", func(ctx context.Context) (bool, error) {
		if err := in.Get(ctx, client.ObjectKeyFromObject(guarded), guarded); err != nil {
			return false, err
		}
		guarded.Data["k"] = "w"
		err := in.Update(ctx, guarded)
		return err == nil, err
	})
	mirrored(t, in, name, "w")
	second.ended(t)
}

// mirrored waits until the Secret is what the ConfigMap says, and belongs to it.
func mirrored(t *testing.T, in client.Client, name, value string) {
	t.Helper()
	secret := &corev1.Secret{}
	eventually(t, "the secret has "+value, func(ctx context.Context) (bool, error) {
		err := in.Get(ctx, client.ObjectKey{Namespace: name, Name: "a"}, secret)
		return string(secret.Data["k"]) == value, err
	})
	owner := metav1.GetControllerOf(secret)
	if owner == nil || owner.Kind != "ConfigMap" || owner.Name != "a" {
		t.Errorf("the owner: %v", owner)
	}
	eventually(t, "the source says so", func(ctx context.Context) (bool, error) {
		source := &corev1.ConfigMap{}
		err := in.Get(ctx, client.ObjectKey{Namespace: name, Name: "a"}, source)
		return source.Annotations["mirrored"] == secret.ResourceVersion, err
	})
}

// listens waits until somebody listens.
func listens(t *testing.T, address string) {
	t.Helper()
	eventually(t, "the webhooks listen", func(context.Context) (bool, error) {
		//nolint:gosec // It is only asked whether somebody listens.
		connection, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			return false, fmt.Errorf("failed to connect: %w", err)
		}
		return true, connection.Close()
	})
}
