package clients

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
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
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patience is how long anything may take.
const patience = 30 * time.Second

var config *rest.Config

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	loaded, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "KUBECONFIG names no cluster:", err)
		os.Exit(1)
	}
	loaded.QPS, loaded.Burst = 1000, 1000
	config = loaded
	os.Exit(m.Run())
}

// sent counts the media types of the bodies that a client sent, by method.
type sent struct {
	sync.Mutex
	bodies map[string]int
}

// wrap puts the record before a transport.
func (sent *sent) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if request.Body != nil && request.Body != http.NoBody {
			sent.Lock()
			sent.bodies[request.Method+" "+request.Header.Get("Content-Type")]++
			sent.Unlock()
		}
		return next.RoundTrip(request)
	})
}

func (sent *sent) count(method, mediaType string) int {
	sent.Lock()
	defer sent.Unlock()
	return sent.bodies[method+" "+mediaType]
}

type roundTripper func(*http.Request) (*http.Response, error)

func (trip roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	return trip(request)
}

// recorded is the configuration with a record of what is sent.
func recorded() (*rest.Config, *sent) {
	record := &sent{bodies: map[string]int{}}
	copied := rest.CopyConfig(config)
	copied.Wrap(record.wrap)
	return copied, record
}

func known(t *testing.T) *runtime.Scheme {
	t.Helper()
	all := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensionsv1.AddToScheme, addWidgets} {
		must(t, add(all))
	}
	return all
}

// typed is controller-runtime's client, without a cache.
func typed(t *testing.T) (client.Client, *sent) {
	t.Helper()
	config, record := recorded()
	made, err := client.New(config, client.Options{Scheme: known(t)})
	must(t, err)
	return made, record
}

// clientset is client-go's, told to speak protobuf.
func clientset(t *testing.T) (kubernetes.Interface, *sent) {
	t.Helper()
	config, record := recorded()
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	made, err := kubernetes.NewForConfig(config)
	must(t, err)
	return made, record
}

// namespace is a new one, deleted in the end.
func namespace(t *testing.T, in client.Client) string {
	t.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "go-clients-"}}
	must(t, in.Create(within(t), made))
	t.Cleanup(func() { _ = in.Delete(context.Background(), made) })
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

// eventually asks until the answer is yes.
func eventually(t *testing.T, what string, asked func(context.Context) (bool, error)) {
	t.Helper()
	ctx := within(t)
	var last error
	for ctx.Err() == nil {
		done, err := asked(ctx)
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

// equal fails with both.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
