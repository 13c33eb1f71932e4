package envtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// patience is how long anything may take.
const patience = 30 * time.Second

var (
	environment *envtest.Environment
	config      *rest.Config
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// run starts the environment and its webhooks, runs the tests, and stops both.
func run(m *testing.M) (code int, err error) {
	folder, err := os.MkdirTemp("", "go-clients-envtest-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder)
	environment = &envtest.Environment{
		Scheme:            known(),
		CRDInstallOptions: envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{gadgets()}},
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			MutatingWebhooks:   mutating(),
			ValidatingWebhooks: validating(),
		},
	}
	apiServer := environment.ControlPlane.GetAPIServer()
	apiServer.CertDir = folder
	if err := nameFrontProxy(folder, apiServer.Configure()); err != nil {
		return 1, err
	}
	begun := time.Now()
	if config, err = environment.Start(); err != nil {
		return 1, fmt.Errorf("failed to start the environment: %w", err)
	}
	fmt.Printf("the environment started in %s\n", time.Since(begun).Round(time.Millisecond))
	defer func() {
		begun := time.Now()
		err = errors.Join(err, environment.Stop())
		fmt.Printf("and stopped in %s\n", time.Since(begun).Round(time.Millisecond))
	}()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if err := serveWebhooks(ctx); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// serveWebhooks starts a manager that serves the webhooks, until the context ends.
func serveWebhooks(ctx context.Context) error {
	options := environment.WebhookInstallOptions
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  known(),
		Metrics: server.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: options.LocalServingHost, Port: options.LocalServingPort, CertDir: options.LocalServingCertDir,
		}),
	})
	if err != nil {
		return err
	}
	guarded := ctrl.NewWebhookManagedBy(manager, &corev1.ConfigMap{}).WithDefaulter(guard{}).WithValidator(guard{})
	if err := guarded.Complete(); err != nil {
		return err
	}
	// It registers /convert.
	if err := ctrl.NewWebhookManagedBy(manager, &GadgetV2{}).Complete(); err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- manager.Start(ctx) }()
	started := manager.GetWebhookServer().StartedChecker()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := started(nil)
		if err == nil {
			return nil
		}
		select {
		case failure := <-failed:
			return fmt.Errorf("the manager ended: %w", failure)
		default:
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}

// known is a scheme with all kinds of these tests.
func known() *runtime.Scheme {
	all := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensionsv1.AddToScheme, addGadgets} {
		if err := add(all); err != nil {
			panic(err)
		}
	}
	return all
}

// typed is controller-runtime's client of a user.
func typed(t *testing.T, user *rest.Config) client.Client {
	t.Helper()
	made, err := client.New(user, client.Options{Scheme: known()})
	must(t, err)
	return made
}

// clientset is client-go's of a user.
func clientset(t *testing.T, user *rest.Config) kubernetes.Interface {
	t.Helper()
	made, err := kubernetes.NewForConfig(user)
	must(t, err)
	return made
}

// namespace is a new one. No controller would delete what it holds.
func namespace(t *testing.T) string {
	t.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "envtest-"}}
	must(t, typed(t, config).Create(within(t), made))
	return made.Name
}

// within is a context that ends with patience.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// equal fails with both.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// eventually repeats a check until it succeeds.
func eventually(t *testing.T, what string, check func(context.Context) (bool, error)) {
	t.Helper()
	ctx := within(t)
	var last error
	for ctx.Err() == nil {
		done, err := check(ctx)
		if done {
			return
		}
		last = err
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Fatalf("%s: not within %s; last: %v", what, patience, last)
}
